import { KubeError } from '../kube/kube-api.ts';

/** What a person can do about an error, beside its message. */
export function explainError(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const advice = error instanceof KubeError ? adviceFor(error) : undefined;
  return advice === undefined ? message : `${message}\n${advice}`;
}

function adviceFor({ status, reason }: KubeError): string | undefined {
  if (status === undefined) return 'Is the cluster up, and is this the right --context (kubectl config get-contexts)?';
  if (status === 401) return 'The credentials of the kubeconfig are refused; log in again.';
  if (status === 403)
    return 'Your user lacks the permission. The chart adds the resources to the roles view, edit and admin.';
  if (status === 404 && reason === 'NotFound') {
    return 'Are the CustomResourceDefinitions installed (kubectl get crd tenants.coffer.dev), and is this the right --namespace?';
  }
  if (status === 422) return 'The API server refused the change; nothing was changed.';
  return undefined;
}
