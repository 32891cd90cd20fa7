/** The stores are not those of one deployment, or a newer server's: this server must not touch them. The message says what to do. */
export class DeploymentError extends Error {
  override readonly name = 'DeploymentError';
}
