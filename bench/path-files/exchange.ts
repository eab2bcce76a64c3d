/** The rig's exchange in a process of its own, so that `bench/path-files.ts` counts none of its files. */
import { openExchange } from '../../test/kit/rig.ts';

const { restUrl, wsUrl } = await openExchange({ speed: Number(process.argv[2]) });
process.send?.({ restUrl, wsUrl });
