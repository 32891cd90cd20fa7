/** How a server is started, found and asked whether it is ready. What differs between servers is here and nowhere else. */
export interface ServerProgram {
  readonly name: ServerName;
  /** Undefined where it is not installed. */
  find(): string | undefined;
  /** What the report calls this version. */
  version(program: string): string;
  command(run: ServerRun): ServerCommand;
  /** What the report says of its promise when it answers a write. */
  readonly durability: string;
  /** The files of its records below its folder, where it has such. */
  readonly records?: string;
}

/** `coffer-encrypted` is Coffer again, beside itself without encryption. */
export type ServerName = 'coffer' | 'coffer-encrypted' | 'minio' | 'versitygw';

export const rootUser = 'bench-root';
export const rootPassword = 'bench-root-password';
export const readyPath = '/minio/health/ready';

export interface ServerRun {
  readonly program: string;
  readonly folder: string;
  readonly port: number;
  /** A second free port, for servers with another listener. */
  readonly secondPort: number;
}

export interface ServerCommand {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}
