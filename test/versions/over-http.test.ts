import { beforeAll, describe, it } from 'vitest';
import { inFullForm } from '../support/full-form.ts';
import { report } from '../support/report.ts';
import { kindsOfBuckets, VersionsModel } from '../support/objects/versions-model.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import type { ServerAccess } from '../support/server/start-server.ts';
import { s3Layer } from './s3-layer.ts';
import { seed } from '../support/seed.ts';

/** The gate tries more of them than `npm test` has time for, and `.ci/soak versions` asks for 10,000. */
const fewest = inFullForm(250, 60);
const operations = Number(process.env['COFFER_VERSIONS_OPERATIONS'] ?? fewest);
/** Retentions do not end here: a bucket would fill with versions that nothing removes. */
const OF_BUCKET = 500;

let server: ServerAccess;
beforeAll(async () => {
  server = await sharedServer();
});

describe.each(kindsOfBuckets)('random requests to a bucket with %s', (kind, options) => {
  it(`are answered as the model says, seed ${seed}`, { timeout: 180_000 + operations * 100 }, async () => {
    for (let done = 0; done < operations; done += OF_BUCKET) {
      const { layer, close } = s3Layer(server, `model-${kind.replaceAll(' ', '-')}-${done}`);
      const count = Math.min(OF_BUCKET, operations - done);
      await VersionsModel.run(() => layer, { seed: seed + done, operations: count, ...options, realTime: true });
      close();
    }
    report(`a server over HTTP, ${kind}, seed ${seed}: ${operations} operations as in the model`);
  });
});
