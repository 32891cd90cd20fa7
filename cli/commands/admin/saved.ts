import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from '../../context.ts';

/** Says that settings were saved, and whether a restart is needed: servers tell by a header that it is not. */
export function printSaved(
  context: Context,
  alias: string,
  headers: IncomingHttpHeaders,
  fields: Readonly<Record<string, unknown>>,
): void {
  const restart = headers['x-minio-config-applied'] !== 'true';
  context.output.message(
    restart
      ? `Successfully applied new settings.\nPlease restart your server: coffer admin service restart ${alias}`
      : 'Successfully applied new settings. They are in effect.',
    { ...fields, restart },
  );
}
