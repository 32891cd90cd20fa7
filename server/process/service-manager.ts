import { execFile } from 'node:child_process';

/** Starts a program and reports its error, as `execFile` does. */
type Run = (program: string, args: readonly string[], done: (error: Error | null) => void) => unknown;

/**
 * Tells systemd that the service is ready or stops (`Type=notify`), by its program `systemd-notify`: Node has no datagram sockets of Unix.
 * Without `NOTIFY_SOCKET` nothing is told. The unit needs `NotifyAccess=all`, since another process sends the message.
 *
 * @see sd_notify(3)
 */
export function notifyServiceManager(
  state: 'READY=1' | 'STOPPING=1',
  failed: (error: Error) => void,
  {
    environment = process.env,
    run = execFile,
  }: { readonly environment?: Readonly<Record<string, string | undefined>>; readonly run?: Run } = {},
): void {
  if (!environment['NOTIFY_SOCKET']) return;
  run('systemd-notify', [state], (error) => {
    if (error !== null) failed(error);
  });
}
