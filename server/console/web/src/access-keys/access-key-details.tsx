import { Code, Drawer, Skeleton, Stack, Text } from '@mantine/core';
import type { AccessKeyAnswer } from '../../../contract/identity-answers.ts';
import { Statements } from '../policies/statements.tsx';
import { useAccessKey } from '../api/access-keys.ts';
import { CopyText } from '../components/copy-text.tsx';
import { Failure } from '../components/feedback.tsx';
import { Fact, Facts, Section } from '../components/detail-page.tsx';
import { useRestoreFocus } from '../components/form-dialog.tsx';
import { StatusBadge } from '../components/row-table.tsx';
import { formatTime } from '../text/format.ts';

interface AccessKeyDetailsProps {
  readonly accessKey: string;
  readonly onClose: () => void;
}

export function AccessKeyDetails({ accessKey, onClose }: AccessKeyDetailsProps) {
  useRestoreFocus();
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
      <Facts>
        <Fact name="Access key">
          <CopyText text={key.accessKey} />
        </Fact>
        <Fact name="Status">
          <StatusBadge status={key.status} />
        </Fact>
        <Fact name="Owner">{`${key.owner.name}${key.owner.provider === undefined ? '' : `, by ${key.owner.provider}`}`}</Fact>
        <Fact name="Kind">{key.kind === 'temporary' ? 'temporary' : 'lasting'}</Fact>
        <Fact name="Name">{key.name}</Fact>
        <Fact name="Description">{key.description}</Fact>
        <Fact name="Created">{key.created === undefined ? undefined : formatTime(key.created)}</Fact>
        <Fact name="Expires">{key.expires === undefined ? 'never' : formatTime(key.expires)}</Fact>
        <Fact name="Policies of its owner">{ownerPolicies(key)}</Fact>
      </Facts>
      {key.policy === undefined ? (
        <Text size="sm" c="dimmed">
          It has no policy of its own: it may do what its owner may.
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
