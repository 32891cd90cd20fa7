import { createS3Server } from '../http/s3-server.ts';
import type { TlsMaterial } from '../../platform/tls/tls-files.ts';
import type { WebsiteServices } from '../s3/website/website-handler.ts';
import { createRequestListener } from '../http/request-listener.ts';

interface WebsiteOptions extends WebsiteServices {
  /** The options that the listener shares with that of the S3 API. */
  readonly listener: Omit<Parameters<typeof createRequestListener>[0], 'handle'>;
  readonly tls: TlsMaterial | undefined;
}

/** Opens the server of the websites of buckets. The caller makes it listen. A server without websites loads none of the code. */
export async function openWebsites({
  listener,
  tls,
  ...services
}: WebsiteOptions): Promise<ReturnType<typeof createS3Server>> {
  const [{ createWebsiteHandler }, { answerWebsiteError }] = await Promise.all([
    import('../s3/website/website-handler.ts'),
    import('../s3/website/website-error.ts'),
  ]);
  const handle = createWebsiteHandler(services);
  return createS3Server({
    listener: createRequestListener({ ...listener, handle, answerFailure: answerWebsiteError }),
    nextRequestId: listener.nextRequestId,
    ...(tls !== undefined && { tls }),
  });
}
