import { ResponseError } from '../../../protocol/response-error.ts';
import { s3 } from './s3.ts';
import { t } from '../texts/texts.ts';

/** Creates the object that S3 clients take for an empty folder. */
export async function createFolder(bucket: string, prefix: string): Promise<void> {
  try {
    await s3('PUT', bucket, {
      key: prefix,
      headers: { 'if-none-match': '*', 'content-type': 'application/x-directory' },
    });
  } catch (error) {
    if (!(error instanceof ResponseError && error.code === 'PreconditionFailed')) throw error;
    throw new ResponseError(error.code, t.shell.thereIsAFolderOfThisName, { status: 412 });
  }
}
