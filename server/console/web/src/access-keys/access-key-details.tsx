import { Code, Drawer, Skeleton, Stack, Text } from '@mantine/core';
import type { AccessKeyAnswer } from '../../../contract/identity-answers.ts';
import { Statements } from '../policies/statements.tsx';
import { useAccessKey } from '../api/access-keys.ts';
import { CopyText } from '../components/copy-text.tsx';
import { Failure } from '../components/feedback.tsx';
import { Section } from '../components/detail-page.tsx';
import { useFocusBack } from '../components/form-dialog.tsx';
import { StatusBadge } from '../components/table-cells.tsx';
import { formatTime } from '../text/format.ts';

interface AccessKeyDetailsProps {
  readonly accessKey: string;
  readonly onClose: () => void;
}

export function AccessKeyDetails({ accessKey, onClose }: AccessKeyDetailsProps) {
  useFocusBack();
  const key = useAccessKey(accessKey);
  return (
    <Drawer opened onClose={onClose} size={520} title={`Access key ${accessKey}`}>
      {key.isPending && <Skeleton h={200} />}
      {key.isError && <Failure what="This access key cannot be shown" error={key.error} retry={key.refetch} />}
      {key.isSuccess && <Details accessKey={key.data} />}
    </Drawer>
  );
}

function Details({ accessKey: key }: { readonly accessKey: AccessKeyAnswer }) {
  return (
    <Stack gap="lg">
      <dl className="facts">
        <dt>Access key</dt>
        <dd>
          <CopyText text={key.accessKey} />
        </dd>
        <dt>Status</dt>
        <dd>
          <StatusBadge status={key.status} />
        </dd>
        <dt>Owner</dt>
        <dd>
          {key.owner.name}
          {key.owner.provider === undefined ? '' : `, by ${key.owner.provider}`}
        </dd>
        <dt>Kind</dt>
        <dd>{key.kind === 'temporary' ? 'temporary' : 'lasting'}</dd>
        {key.name !== undefined && (
          <>
            <dt>Name</dt>
            <dd>{key.name}</dd>
          </>
        )}
        {key.description !== undefined && (
          <>
            <dt>Description</dt>
            <dd>{key.description}</dd>
          </>
        )}
        {key.created !== undefined && (
          <>
            <dt>Created</dt>
            <dd>{formatTime(key.created)}</dd>
          </>
        )}
        <dt>Expires</dt>
        <dd>{key.expires === undefined ? 'never' : formatTime(key.expires)}</dd>
        <dt>Policies of its owner</dt>
        <dd>{ownerPolicies(key)}</dd>
      </dl>
      {key.policy === undefined ? (
        <Text size="sm" c="dimmed">
          No policy of its own: it may do whatever its owner may.
        </Text>
      ) : (
        <Section title="Policy of its own" words="Both must allow an action: this policy, and those of the owner.">
          <Stack gap="sm">
            <Statements statements={key.policy.content} />
            <Code block tabIndex={0} aria-label="Document of its policy">
              {key.policy.document}
            </Code>
          </Stack>
        </Section>
      )}
    </Stack>
  );
}

function ownerPolicies({ owner, ownerPolicies: names }: AccessKeyAnswer): string {
  if (owner.kind === 'root') return 'everything: it belongs to the root user';
  return names.length === 0 ? 'none, so nothing is allowed' : names.join(', ');
}
