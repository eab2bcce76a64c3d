import { pair } from './restless-legs.ts';

export default pair('unwind');
