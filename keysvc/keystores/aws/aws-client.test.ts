import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../test/support/keysvc/http-double.ts';
import { AwsClient } from './aws-client.ts';
import { Remote } from '../remote/remote.ts';

const endpointIn = (region: string, endpoint?: string) =>
  new AwsClient(
    { kind: 'aws', region, ...(endpoint === undefined ? {} : { endpoint }) },
    new Remote({ clock: new VirtualClock() }),
  ).endpoint;

describe('the endpoint of AWS Secrets Manager', () => {
  it.each([
    ['eu-west-1', 'https://secretsmanager.eu-west-1.amazonaws.com'],
    ['cn-north-1', 'https://secretsmanager.cn-north-1.amazonaws.com.cn'],
    ['cn-northwest-1', 'https://secretsmanager.cn-northwest-1.amazonaws.com.cn'],
    ['us-gov-west-1', 'https://secretsmanager.us-gov-west-1.amazonaws.com'],
    ['eusc-de-east-1', 'https://secretsmanager.eusc-de-east-1.amazonaws.eu'],
  ])('of %s is %s', (region, endpoint) => {
    expect(endpointIn(region)).toBe(endpoint);
  });

  it('is the one of the configuration where that names one', () => {
    expect(endpointIn('cn-north-1', 'https://vpce-1.example')).toBe('https://vpce-1.example');
  });
});
