import { createHash, randomUUID } from 'node:crypto';
import { parseAuthorization } from '../../../protocol/sigv4/parse-authorization.ts';
import { SigningKeys } from '../../../protocol/sigv4/signing-key.ts';
import { verifySignature } from '../../../protocol/sigv4/verify-signature.ts';
import {
  type DoubleAnswer,
  type DoubleRequest,
  type HttpDouble,
  startHttpDouble,
  type VirtualClock,
} from './http-double.ts';

// A double of AWS Secrets Manager after its documentation.

export const awsLogin = {
  accessKey: 'AKIDEXAMPLE',
  secretKey: 'aws-secret-key-value',
  sessionToken: 'session-token-value',
} as const;

interface Secret {
  readonly versions: { id: string; value: string }[];
  /** The virtual time in milliseconds until which the secret is being deleted, or can be restored. */
  goneAt?: number;
}

const region = 'eu-west-1';
/** The delay of a forced deletion in virtual milliseconds. */
const deletionMs = 2500;

export class AwsDouble {
  readonly clock: VirtualClock;
  readonly #secrets = new Map<string, Secret>();
  readonly #keys = new SigningKeys();
  readonly denied = new Set<string>();
  /** The only secret that the policy is for; undefined for a policy for all. */
  onlySecret: string | undefined;
  /** The KMS keys of the requests. */
  readonly kmsKeys: unknown[] = [];
  /** The seconds by which the double's clock is ahead. */
  skewSeconds = 0;
  /** Expired session tokens. */
  readonly ended = new Set<string>();
  #http: HttpDouble | undefined;

  private constructor(clock: VirtualClock) {
    this.clock = clock;
  }

  static async start(clock: VirtualClock): Promise<AwsDouble> {
    const double = new AwsDouble(clock);
    double.#http = await startHttpDouble(clock, (request) => double.#answer(request));
    return double;
  }

  get http(): HttpDouble {
    if (this.#http === undefined) throw new Error('not started');
    return this.#http;
  }

  /** Acts like `aws secretsmanager put-secret-value`. */
  put(name: string, value: string): void {
    const secret = this.#secrets.get(name) ?? { versions: [] };
    secret.versions.push({ id: randomUUID(), value });
    this.#secrets.set(name, secret);
  }

  /** Acts like the console: the secret can be restored for 30 days. */
  scheduleDeletion(name: string): void {
    const secret = this.#secrets.get(name);
    if (secret !== undefined) secret.goneAt = this.clock.now() + 30 * 86_400_000;
  }

  /** Acts like `aws secretsmanager restore-secret`. */
  restore(name: string): void {
    const secret = this.#secrets.get(name);
    if (secret !== undefined) delete secret.goneAt;
  }

  #answer(request: DoubleRequest): DoubleAnswer {
    if (request.method !== 'POST' || request.url.pathname !== '/') return { status: 404 };
    const refusal = this.#checkSignature(request);
    if (refusal !== undefined) return refusal;
    const target = String(request.headers['x-amz-target']);
    const action = target.replace('secretsmanager.', '');
    if (request.headers['content-type'] !== 'application/x-amz-json-1.1' || target === action) {
      return failure('UnknownOperationException');
    }
    // @see https://docs.aws.amazon.com/secretsmanager/latest/userguide/auth-and-access_examples.html
    const body = JSON.parse(request.body) as Record<string, unknown>;
    const name = body['SecretId'] ?? body['Name'];
    if (this.denied.has(action) || (this.onlySecret !== undefined && name !== this.onlySecret)) {
      const message = `User: arn:aws:iam::1:user/coffer is not authorized to perform: secretsmanager:${action}`;
      return failure('AccessDeniedException', message);
    }
    switch (action) {
      case 'CreateSecret':
        return this.#create(body);
      case 'GetSecretValue':
        return this.#get(String(body['SecretId']), body['VersionStage'] === 'AWSPREVIOUS');
      case 'DeleteSecret':
        return this.#delete(String(body['SecretId']), body['ForceDeleteWithoutRecovery'] === true);
      case 'ListSecrets':
        return this.#list(Number(body['MaxResults'] ?? 100), Number(body['NextToken'] ?? 0));
      default:
        return failure('UnknownOperationException');
    }
  }

  /** @see https://docs.aws.amazon.com/secretsmanager/latest/apireference/CommonErrors.html */
  #checkSignature({ method, url, headers, body }: DoubleRequest): DoubleAnswer | undefined {
    const signed = { method, rawPath: url.pathname, rawQuery: '', headers };
    const bodyHash = createHash('sha256').update(body).digest('hex');
    const now = new Date(this.clock.now() + this.skewSeconds * 1000);
    try {
      const claim = parseAuthorization(signed);
      if (claim === undefined || claim.kind === 'version-2')
        return failure('MissingAuthenticationTokenException', 'Request is missing Authentication Token');
      if (claim.accessKey !== awsLogin.accessKey) {
        return failure('UnrecognizedClientException', 'The security token included in the request is invalid.');
      }
      if (claim.payloadHash !== undefined && claim.payloadHash !== bodyHash)
        return failure('InvalidSignatureException');
      const token = headers['x-amz-security-token'];
      if (token !== undefined && (token !== awsLogin.sessionToken || this.ended.has(token))) {
        return failure('ExpiredTokenException', 'The security token included in the request is expired');
      }
      verifySignature(signed, claim, awsLogin.secretKey, {
        now,
        region,
        services: ['secretsmanager'],
        bodyHash,
        signingKeys: this.#keys,
      });
      return undefined;
    } catch (error) {
      return failure('InvalidSignatureException', (error as Error).message);
    }
  }

  /** @see https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_CreateSecret.html */
  #create({ Name, SecretString, ClientRequestToken, KmsKeyId }: Record<string, unknown>): DoubleAnswer {
    const name = String(Name);
    if (
      !/^[A-Za-z0-9/_+=.@-]{1,512}$/.test(name) ||
      typeof SecretString !== 'string' ||
      Buffer.byteLength(SecretString) > 65_536
    ) {
      return failure('InvalidParameterException');
    }
    // @see https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_CreateSecret.html#SecretsManager-CreateSecret-request-ClientRequestToken
    if (typeof ClientRequestToken !== 'string' || ClientRequestToken.length < 32)
      return failure('InvalidParameterException');
    const found = this.#find(name);
    if (found?.goneAt !== undefined) {
      const message = "You can't create this secret because a secret with this name is already scheduled for deletion.";
      return failure('InvalidRequestException', message);
    }
    if (found !== undefined) {
      const isRepeated = found.versions.some(({ id, value }) => id === ClientRequestToken && value === SecretString);
      return isRepeated
        ? { status: 200, body: { Name: name } }
        : failure(exists, `The operation failed because the secret ${name} already exists.`);
    }
    this.#secrets.set(name, { versions: [{ id: ClientRequestToken, value: SecretString }] });
    this.kmsKeys.push(KmsKeyId);
    return { status: 200, body: { Name: name, VersionId: ClientRequestToken } };
  }

  /** @see https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html */
  #get(name: string, isPrevious: boolean): DoubleAnswer {
    const secret = this.#find(name);
    if (secret === undefined) return failure(missing, "Secrets Manager can't find the specified secret.");
    if (secret.goneAt !== undefined) {
      const message = "You can't perform this operation on the secret because it was marked for deletion.";
      return failure('InvalidRequestException', message);
    }
    const version = secret.versions.at(isPrevious ? -2 : -1);
    if (version === undefined) {
      return failure(
        missing,
        `Secrets Manager can't find the specified secret value for staging label: ${isPrevious ? 'AWSPREVIOUS' : 'AWSCURRENT'}`,
      );
    }
    return { status: 200, body: { Name: name, VersionId: version.id, SecretString: version.value } };
  }

  /** @see https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_DeleteSecret.html */
  #delete(name: string, force: boolean): DoubleAnswer {
    const secret = this.#find(name);
    if (secret === undefined) return force ? { status: 200, body: { Name: name } } : failure(missing);
    secret.goneAt = this.clock.now() + (force ? deletionMs : 30 * 86_400_000);
    return { status: 200, body: { Name: name } };
  }

  /** @see https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_ListSecrets.html */
  #list(size: number, start: number): DoubleAnswer {
    if (!(size >= 1 && size <= 100)) return failure('InvalidParameterException');
    const names = [...this.#secrets.keys()].filter(
      (name) => this.#find(name)?.goneAt === undefined && this.#find(name) !== undefined,
    );
    // Pages may be shorter than requested.
    const end = start + Math.min(size, 3);
    const more = end < names.length ? { NextToken: String(end) } : {};
    return { status: 200, body: { SecretList: names.slice(start, end).map((Name) => ({ Name })), ...more } };
  }

  #find(name: string): Secret | undefined {
    const secret = this.#secrets.get(name);
    if (secret?.goneAt !== undefined && secret.goneAt <= this.clock.now()) this.#secrets.delete(name);
    return this.#secrets.get(name);
  }
}

const exists = 'ResourceExistsException';
const missing = 'ResourceNotFoundException';

function failure(type: string, message = type): DoubleAnswer {
  return { status: 400, body: { __type: type, Message: message } };
}
