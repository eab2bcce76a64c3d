export { list as default } from './restless-legs.ts';
