/** Reads the page's files in a thread that ends then: in a clone, Node's compiler of TypeScript would keep 26 MB. */
import { parentPort } from 'node:worker_threads';
import { Refusal } from '../domain/refusal.ts';
import { type LoadedAssets, loadAssets } from './assets.ts';

function load(): LoadedAssets {
  try {
    return { assets: loadAssets() };
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.message };
    throw error;
  }
}

parentPort?.postMessage(load());
