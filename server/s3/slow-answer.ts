import type { Answer } from '../access/answer.ts';

/** What every document of ours begins with; XML allows spaces only after it. */
const early = Buffer.from('<?xml version="1.0" encoding="UTF-8"?>\n');

/**
 * An answer that may take minutes, for operations whose clients know that an error may come under the status 200.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html
 */
export function slowAnswer(work: Promise<Answer>, onError: (error: unknown) => Answer): Answer {
  return {
    status: 200,
    headers: { 'content-type': 'application/xml' },
    body: { kind: 'slow', early, result: work.catch(onError) },
  };
}
