import type { Xml } from '../../protocol/s3/xml-writer.ts';
import type { IncomingRequest } from '../access/incoming-request.ts';
import type { TemporaryCredentials } from '../access/temporary-credentials-record.ts';
import type { StsParameters } from './sts-parameters.ts';

/** An action of the STS API; its file holds its checks and its part of the answer. Rejects with an `StsError`. */
export interface StsAction {
  readonly name: string;
  serve(parameters: StsParameters, request: IncomingRequest): Promise<StsOutcome>;
}

export interface StsOutcome {
  /** What stands in `<NameResult>`. */
  readonly result: readonly Xml[];
  /** The credentials that were made, for the log. */
  readonly granted?: TemporaryCredentials;
}
