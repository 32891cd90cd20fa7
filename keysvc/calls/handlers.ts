import type { Api } from '../../protocol/key-service/routes.ts';
import type { Handler } from './call.ts';
import { createKey, deleteKey, describeKey, importKey, listKeys, rotateKey } from './key-calls.ts';
import { bulkDecrypt, decrypt, encrypt, generateKey, hmac } from './cipher-calls.ts';
import {
  describeSelf,
  describeIdentity,
  listIdentities,
  describePolicy,
  listPolicies,
  readPolicy,
} from './identity-calls.ts';
import { listApis, auditStream, errorStream, metrics, ready, status, version } from './service-calls.ts';

/** The handler of each call. */
export const handlers: Readonly<Record<Api, Handler>> = {
  version,
  ready,
  status,
  metrics,
  api: listApis,
  'key-create': createKey,
  'key-import': importKey,
  'key-rotate': rotateKey,
  'key-describe': describeKey,
  'key-delete': deleteKey,
  'key-list': listKeys,
  'key-generate': generateKey,
  'key-encrypt': encrypt,
  'key-decrypt': decrypt,
  'key-bulk-decrypt': bulkDecrypt,
  'key-hmac': hmac,
  'policy-describe': describePolicy,
  'policy-read': readPolicy,
  'policy-list': listPolicies,
  'identity-describe': describeIdentity,
  'identity-describe-self': describeSelf,
  'identity-list': listIdentities,
  'log-audit': auditStream,
  'log-error': errorStream,
};
