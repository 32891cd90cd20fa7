import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

/**
 * Where a region's Secrets Manager is, by AWS's own client, which knows the partitions: the regions of China are below amazonaws.com.cn,
 * those of Europe's own cloud below amazonaws.eu.
 */
export function regionalEndpoint(region: string): string {
  const { config } = new SecretsManagerClient({ region });
  return config.endpointProvider({ Region: region, UseDualStack: false, UseFIPS: false }).url.origin;
}
