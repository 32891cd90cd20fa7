import type { Services } from './services.ts';
import { joinDeployment } from './store/deployment/join-deployment.ts';
import { blobsMarker } from './store/deployment/open-blobs-marker.ts';
import { describeAddress } from './store/parse-store-address.ts';
import type { ThreadOptions } from './thread-messages.ts';

/** The ID of the deployment that this server's stores belong to. Throws what `joinDeployment` throws. */
export async function deploymentOf({ stores }: ThreadOptions, { records }: Pick<Services, 'records'>): Promise<string> {
  const { folder } = stores;
  return joinDeployment({
    records,
    marker: await blobsMarker(stores.blobs),
    places: { records: describeAddress(stores.records), blobs: describeAddress(stores.blobs) },
    sameFolder: folder?.holdsBlobs === true,
    ...(folder === undefined ? {} : { newId: folder.deploymentId }),
  });
}
