import { Code, Drawer, Stack, Text } from '@mantine/core';
import type { AccessKeyAnswer } from '../../../protocol/console/identity-answers.ts';
import { Statements } from '../policies/statements.tsx';
import { useAccessKey } from '../api/access-keys.ts';
import { CopyText } from '../components/copy-text.tsx';
import { Failure } from '../components/feedback.tsx';
import { Fact, Facts, Section } from '../components/detail-page.tsx';
import { useRestoreFocus } from '../components/kept-focus.ts';
import { LoadingRows } from '../components/list-page.tsx';
import { StatusBadge } from '../components/row-table.tsx';
import { formatExactTime, formatTime } from '../text/format.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

interface AccessKeyDetailsProps {
  readonly accessKey: string;
  readonly onClose: () => void;
}

export function AccessKeyDetails({ accessKey, onClose }: AccessKeyDetailsProps) {
  useRestoreFocus();
  const key = useAccessKey(accessKey);
  return (
    <Drawer opened onClose={onClose} size={520} title={say(t.accessKeys.accessKey, { accessKey })}>
      {key.isPending && <LoadingRows />}
      {key.isError && <Failure what={t.accessKeys.thisAccessKeyCannotBeShown} error={key.error} retry={key.refetch} />}
      {key.isSuccess && <Details accessKey={key.data} />}
    </Drawer>
  );
}

function Details({ accessKey: key }: { readonly accessKey: AccessKeyAnswer }) {
  return (
    <Stack gap="lg">
      <Facts>
        <Fact name={t.labels.accessKey}>
          <CopyText text={key.accessKey} />
        </Fact>
        <Fact name={t.labels.status}>
          <StatusBadge status={key.status} />
        </Fact>
        <Fact name={t.accessKeys.owner}>
          {key.owner.provider === undefined
            ? key.owner.name
            : say(t.accessKeys.by, { name: key.owner.name, provider: key.owner.provider })}
        </Fact>
        <Fact name={t.labels.kind}>{key.kind === 'temporary' ? t.accessKeys.temporary : t.accessKeys.lasting}</Fact>
        <Fact name={t.labels.name}>{key.name}</Fact>
        <Fact name={t.accessKeys.description}>{key.description}</Fact>
        <Fact name={t.labels.created}>{key.created === undefined ? undefined : formatTime(key.created)}</Fact>
        <Fact name={t.accessKeys.expires}>
          {key.expires === undefined ? (
            t.accessKeys.never
          ) : (
            <time dateTime={key.expires}>{formatExactTime(key.expires)}</time>
          )}
        </Fact>
        <Fact name={t.accessKeys.policiesOfItsOwner}>{ownerPolicies(key)}</Fact>
      </Facts>
      {key.policy === undefined ? (
        <Text size="sm" c="dimmed">
          {t.accessKeys.itHasNoPolicyOfItsOwn}
        </Text>
      ) : (
        <Section title={t.accessKeys.policyOfItsOwn} words={t.accessKeys.bothMustAllowAnActionThisPolicy}>
          <Stack gap="sm">
            <Statements statements={key.policy.content} />
            <Code block tabIndex={0} aria-label={t.accessKeys.documentOfItsPolicy}>
              {key.policy.document}
            </Code>
          </Stack>
        </Section>
      )}
    </Stack>
  );
}

function ownerPolicies({ owner, ownerPolicies: names }: AccessKeyAnswer): string {
  if (owner.kind === 'root') return t.accessKeys.everythingItBelongsToTheRootUser;
  return names.length === 0 ? t.accessKeys.noneSoNothingIsAllowed : names.join(', ');
}
