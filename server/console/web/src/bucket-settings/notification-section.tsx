import { Autocomplete, Badge, Button, Group, MultiSelect, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { admin } from '../api/admin.ts';
import { useApiMutation } from '../api/queries.ts';
import { childrenOf, s3, s3Document, textIn } from '../api/s3.ts';
import { useRights } from '../api/session.ts';
import { Loaded, Section } from '../components/detail-page.tsx';
import { notifyDone } from '../components/feedback.tsx';
import { FormDialog, FormError } from '../components/form-dialog.tsx';
import { RuleCard } from './rule-card.tsx';
import {
  describeNotification,
  emptyNotification,
  eventWords,
  notificationDocument,
  notificationProblem,
  targetName,
  type NotificationRule,
} from './notification-rules.ts';

interface NotificationSectionProps {
  readonly bucket: string;
  readonly mayEdit: boolean;
}

interface Target {
  readonly arn: string;
  readonly state: 'not-configured' | 'full' | 'offline' | 'online';
  readonly waiting: { readonly events: number };
  readonly failure?: { readonly error: string };
}

function useRules(bucket: string) {
  return useQuery({
    queryKey: ['notification', bucket],
    queryFn: async (): Promise<readonly NotificationRule[]> => {
      const root = await s3Document('GET', bucket, { query: { notification: '' } });
      return childrenOf(root, 'QueueConfiguration').map(ruleOf);
    },
  });
}

function ruleOf(element: Element): NotificationRule {
  const filters = new Map(
    [...element.getElementsByTagNameNS('*', 'FilterRule')].map((rule) => [
      (textIn(rule, 'Name') ?? '').toLowerCase(),
      textIn(rule, 'Value') ?? '',
    ]),
  );
  return {
    id: textIn(element, 'Id') ?? '',
    arn: textIn(element, 'Queue') ?? '',
    events: childrenOf(element, 'Event').map(({ textContent }) => textContent ?? ''),
    prefix: filters.get('prefix') ?? '',
    suffix: filters.get('suffix') ?? '',
  };
}

function useSetRules(bucket: string) {
  return useApiMutation(
    async (rules: readonly NotificationRule[]) => {
      await s3('PUT', bucket, { query: { notification: '' }, body: notificationDocument(rules) });
    },
    ['notification', 'notification-targets'],
  );
}

/** The targets of the server with their queues. Users who may not see the server see none. */
function useTargets() {
  const { may } = useRights();
  const targets = useQuery({
    queryKey: ['notification-targets'],
    queryFn: async () => (await admin<{ readonly targets: readonly Target[] }>('GET', 'coffer/notifications')).targets,
    enabled: may('admin:ServerInfo'),
    refetchInterval: 15_000,
  });
  return targets.data ?? [];
}

/** Whom the server tells about changes of objects. */
export function NotificationSection({ bucket, mayEdit }: NotificationSectionProps) {
  const rules = useRules(bucket);
  const set = useSetRules(bucket);
  const targets = useTargets();
  const [edited, setEdited] = useState<number>();

  function save(next: readonly NotificationRule[]): void {
    set.mutate(next, {
      onSuccess: () => {
        setEdited(undefined);
        notifyDone('The notifications are saved.');
      },
    });
  }

  return (
    <Section
      title="Notifications"
      words="Whom the server tells about what happens to objects. Targets such as webhooks are settings of the server."
      action={
        mayEdit &&
        rules.isSuccess && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconPlus size={14} />}
            onClick={() => setEdited(rules.data.length)}
          >
            Add a notification
          </Button>
        )
      }
    >
      <Loaded name="The notifications" query={rules}>
        {(shown) => (
          <Stack gap="xs">
            {shown.length === 0 && (
              <Text size="sm" c="dimmed">
                No rules: nobody is told.
              </Text>
            )}
            {shown.map((rule, index) => (
              <RuleCard
                key={`${rule.id} ${index}`}
                name={`notification ${rule.id || index + 1}`}
                mayEdit={mayEdit}
                onEdit={() => setEdited(index)}
                onRemove={() => save(shown.filter((_, at) => at !== index))}
              >
                <Text size="sm">{describeNotification(rule)}</Text>
                <TargetState target={targets.find(({ arn }) => targetName(arn) === targetName(rule.arn))} />
              </RuleCard>
            ))}
            {edited === undefined && <FormError error={set.error} />}
            {edited !== undefined && (
              <NotificationDialog
                rule={shown[edited] ?? emptyNotification}
                targets={targets.filter(({ state }) => state !== 'not-configured').map(({ arn }) => arn)}
                pending={set.isPending}
                error={set.error}
                onSave={(rule) => save([...shown.slice(0, edited), rule, ...shown.slice(edited + 1)])}
                onClose={() => {
                  set.reset();
                  setEdited(undefined);
                }}
              />
            )}
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

const stateWords = {
  online: ['patina', 'the target answers'],
  offline: ['red', 'the target does not answer'],
  full: ['red', 'the queue is full'],
  'not-configured': ['yellow', 'the server has no such target any more'],
} as const;

function TargetState({ target }: { readonly target: Target | undefined }) {
  if (target === undefined) return null;
  const [color, words] = stateWords[target.state];
  return (
    <Group gap="xs" mt={2}>
      <Badge color={color}>{words}</Badge>
      {target.waiting.events > 0 && (
        <Text size="xs" c="dimmed">
          {target.waiting.events.toLocaleString()} events wait
        </Text>
      )}
      {target.failure && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {target.failure.error}
        </Text>
      )}
    </Group>
  );
}

interface NotificationDialogProps {
  readonly rule: NotificationRule;
  readonly targets: readonly string[];
  readonly pending: boolean;
  readonly error: Error | null;
  readonly onSave: (rule: NotificationRule) => void;
  readonly onClose: () => void;
}

function NotificationDialog({ rule, targets, pending, error, onSave, onClose }: NotificationDialogProps) {
  const [edited, setEdited] = useState(rule);
  const [tried, setTried] = useState(false);
  const problem = notificationProblem(edited);
  const known = Object.entries(eventWords).map(([value, label]) => ({ value, label: `An object is ${label}` }));
  const others = rule.events.filter((event) => eventWords[event] === undefined);
  return (
    <FormDialog
      title="A notification"
      submit="Save notification"
      pending={pending}
      error={tried && problem !== undefined ? new Error(problem) : error}
      onSubmit={() => {
        setTried(true);
        if (problem === undefined) onSave(edited);
      }}
      onClose={onClose}
    >
      <Autocomplete
        label="Target"
        description={
          targets.length === 0
            ? 'The ARN of a target, for example arn:minio:sqs::mine:webhook. An administrator sets targets up.'
            : 'One of the targets of this server.'
        }
        data-autofocus
        spellCheck={false}
        data={[...targets]}
        value={edited.arn}
        onChange={(arn) => setEdited({ ...edited, arn })}
      />
      <MultiSelect
        label="Events"
        data={[...known, ...others.map((value) => ({ value, label: value }))]}
        value={[...edited.events]}
        onChange={(events) => setEdited({ ...edited, events })}
      />
      <TextInput
        label="Keys that begin with"
        description="Empty: all keys."
        spellCheck={false}
        value={edited.prefix}
        onChange={(event) => setEdited({ ...edited, prefix: event.currentTarget.value })}
      />
      <TextInput
        label="and end with"
        spellCheck={false}
        value={edited.suffix}
        onChange={(event) => setEdited({ ...edited, suffix: event.currentTarget.value })}
      />
      {problem === undefined && (
        <Text size="sm" c="dimmed" aria-live="polite">
          {describeNotification(edited)}
        </Text>
      )}
    </FormDialog>
  );
}
