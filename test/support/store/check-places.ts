/** Preloaded in the programs of tests (`storeEnvironment` of test/support/process/program.ts), and in each of their threads. */
import { channel } from 'node:diagnostics_channel';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
/** The test has made records with ids of before slots. */
const idsMadeBefore = process.env['COFFER_TEST_PLACES'] === 'with-ids-made-before';

// What a subscriber throws is an uncaught exception: it ends the process. The check is loaded late, since most threads commit nothing.
channel('coffer.store.commit').subscribe((batch) => {
  require('../../../server/store/places.ts').crossingsOf(batch, { idsMadeBefore });
});
