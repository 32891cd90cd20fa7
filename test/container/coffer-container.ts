import { AbstractStartedContainer, GenericContainer, Wait } from 'testcontainers';
import type { StartedTestContainer } from 'testcontainers';

const s3Port = 9000;
const consolePort = 9001;

/**
 * A Coffer server for the tests of a program that speaks S3, as a container of testcontainers. It runs as in production: another user
 * than root, no capability, a root file system that nothing can write to. Its data are in memory and gone when it stops.
 *
 *     const coffer = await new CofferContainer().start();
 *     const s3 = new S3Client({ ...coffer.connection });
 *     …
 *     await coffer.stop();
 */
export class CofferContainer extends GenericContainer {
  #region = 'us-east-1';
  #credentials = { accessKeyId: 'coffer-root', secretAccessKey: 'coffer-root-password' };

  constructor(image = 'localhost/coffer:dev') {
    super(image);
    this.hostConfig.ReadonlyRootfs = true;
    this.withDroppedCapabilities('ALL')
      .withSecurityOpt('no-new-privileges')
      .withTmpFs({ '/data': 'rw,mode=0700,uid=65532,gid=65532', '/tmp': 'rw,mode=1777' })
      .withCommand(['coffer-server', '/data', '--address', `:${s3Port}`, '--console-address', `:${consolePort}`])
      .withExposedPorts(s3Port, consolePort)
      .withWaitStrategy(Wait.forHttp('/minio/health/ready', s3Port).forStatusCode(200))
      .withStartupTimeout(60_000);
  }

  /** The root user's; a password has 8 characters or more. */
  withRootCredentials(accessKeyId: string, secretAccessKey: string): this {
    this.#credentials = { accessKeyId, secretAccessKey };
    return this;
  }

  /** Settings by their `SVC_*` names. */
  withSettings(settings: Readonly<Record<string, string>>): this {
    // The server refuses signatures for another region.
    this.#region = settings['SVC_REGION'] ?? this.#region;
    return this.withEnvironment({ ...settings });
  }

  override async start(): Promise<StartedCofferContainer> {
    this.withEnvironment({
      SVC_ROOT_USER: this.#credentials.accessKeyId,
      SVC_ROOT_PASSWORD: this.#credentials.secretAccessKey,
    });
    return new StartedCofferContainer(await super.start(), this.#credentials, this.#region);
  }
}

export class StartedCofferContainer extends AbstractStartedContainer {
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };

  readonly #region: string;

  constructor(started: StartedTestContainer, credentials: StartedCofferContainer['credentials'], region: string) {
    super(started);
    this.credentials = credentials;
    this.#region = region;
  }

  /** Of the S3 API, STS and the admin API. */
  get endpoint(): string {
    return `http://${this.getHost()}:${this.getMappedPort(s3Port)}`;
  }

  get console(): string {
    return `http://${this.getHost()}:${this.getMappedPort(consolePort)}`;
  }

  /** What `S3Client` of the AWS SDK for JavaScript takes. */
  get connection() {
    return {
      endpoint: this.endpoint,
      region: this.#region,
      forcePathStyle: true,
      credentials: { ...this.credentials },
    };
  }
}
