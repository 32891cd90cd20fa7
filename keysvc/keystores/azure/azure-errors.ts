import { z } from 'zod';
import { KeyError } from '../keystore.ts';
import { quoted, tryJson } from '../remote/json-answer.ts';
import type { RemoteAnswer } from '../remote/remote.ts';

/** The permissions of an access policy for secrets, by their names in the portal. */
export type AzurePermission = 'Get' | 'List' | 'Set' | 'Delete' | 'Purge';

/** The same permission as a data action of Azure's role-based access control. */
const dataActions: Readonly<Record<AzurePermission, string>> = {
  Get: 'getSecret/action',
  List: 'readMetadata/action',
  Set: 'setSecret/action',
  Delete: 'delete',
  Purge: 'purge/action',
};

const failure = z.object({
  error: z.object({
    code: z.string().optional(),
    message: z.string().optional(),
    innererror: z.object({ code: z.string().optional() }).nullish(),
  }),
});

export const deletedButRecoverable = 'ObjectIsDeletedButRecoverable';
export const beingDeleted = 'ObjectIsBeingDeleted';

interface AzureFailure {
  readonly status: number;
  /** `SecretNotFound`; empty for an answer that is not of the vault. */
  readonly code: string;
  /** `ObjectIsDeletedButRecoverable` or `AccessDenied`; empty where the answer has none. */
  readonly inner: string;
  readonly message: string;
}

/** @see https://learn.microsoft.com/azure/key-vault/general/rest-error-codes */
export function readFailure(answer: RemoteAnswer): AzureFailure {
  const error = tryJson(answer.text, failure)?.error;
  const message = quoted(error?.message ?? error?.code ?? answer.text);
  const inner = error?.innererror?.code ?? (answer.status === 409 ? conflictOf(error?.code, message) : '');
  return { status: answer.status, code: error?.code ?? '', inner, message };
}

/** Reports whether the vault itself says that it has no such secret. Its answer for a wrong path, and that of a proxy, have other codes. */
export function isSecretMissing(answer: RemoteAnswer): boolean {
  return answer.status === 404 && readFailure(answer).code === 'SecretNotFound';
}

/** Finds the inner code of a conflict in its text. Older vaults and emulators send only the outer code or the text. */
function conflictOf(code: string | undefined, message: string): string {
  if (code === deletedButRecoverable || /deleted but recoverable/i.test(message)) return deletedButRecoverable;
  if (code === beingDeleted || /currently being deleted/i.test(message)) return beingDeleted;
  return '';
}

/** Reports whether the vault keeps a deleted key until its retention ends. A missing permission may have the same inner code. */
export function isPurgeProtected({ status, inner, message }: AzureFailure): boolean {
  return status === 403 && inner === 'ForbiddenByPolicy' && !/does not have secrets \w+ permission/i.test(message);
}

interface AzureFailureContext {
  readonly permission: AzurePermission;
  /** The key of the call; absent where it has none. */
  readonly key?: string;
  /** The caller, for messages. */
  readonly who: string;
  readonly endpoint: string;
}

/** Converts an unexpected answer to an error. */
export function azureError(operation: AzureFailureContext, failure: AzureFailure): KeyError {
  const { permission, key, who, endpoint } = operation;
  const about = key === undefined ? '' : ` for the key "${key}"`;
  const { status, code, inner, message } = failure;
  if (code === '') {
    return new KeyError(
      'unavailable',
      `the key vault ${endpoint} answers ${status}${about}, and not in the words of a key vault: is a proxy before it? (${message})`,
    );
  }
  if (status === 403 && inner === 'ForbiddenByFirewall') {
    return new KeyError(
      'refused',
      `the firewall of the key vault ${endpoint} refuses this machine's address${about}: allow it under Networking (${message})`,
    );
  }
  if (status === 403 && inner === 'SecretDisabled') {
    return new KeyError(
      'refused',
      `the key vault ${endpoint} holds the secret back${about}: it is disabled (${message})`,
    );
  }
  if (status === 403) {
    return new KeyError(
      'refused',
      `the key vault ${endpoint} refuses ${who}${about}: it lacks the secret permission "${permission}". Grant it in the vault's ` +
        `access policy, or by a role with Microsoft.KeyVault/vaults/secrets/${dataActions[permission]} (${message})`,
      { lacksPermission: true },
    );
  }
  if (status === 429) {
    return new KeyError('unavailable', `the key vault ${endpoint} throttles its callers${about}: ${message}`);
  }
  return new KeyError(
    'unavailable',
    `the key vault ${endpoint} answers ${status}${inner === '' ? '' : ` ${inner}`}${about}: ${message}`,
  );
}
