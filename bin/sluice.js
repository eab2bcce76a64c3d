#!/usr/bin/env node
import { launch } from './launch.js';

await launch('sluice', 'main', ['demo', 'live', 'paper'].includes(process.argv[2]));
