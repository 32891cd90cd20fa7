import { Autocomplete, Badge, Group, MultiSelect, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { admin } from '../api/admin.ts';
import { useApiMutation } from '../api/queries.ts';
import { configuration, editConfiguration, expectSame, subresources } from '../api/configuration.ts';
import type { XmlNode } from '../../../protocol/s3/xml-reader.ts';
import { useRights } from '../api/session.ts';
import { HeldEvents } from './held-events.tsx';
import { RuleCard } from './rule-card.tsx';
import {
  describeNotification,
  emptyNotification,
  eventWords,
  notificationDocument,
  notificationIssue,
  notificationRule,
  targetName,
  type NotificationRule,
  unknownOfNotification,
} from './notification-rules.ts';
import { RuleDialog, RulesSection } from './rules-section.tsx';
import { UnknownFields } from '../components/unknown-fields.tsx';
import type { EditorProps } from './setting-section.tsx';
import { say } from '../texts/say.ts';
import { sayNames } from '../components/name-text.tsx';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';
import { isRefresh } from '../api/call.ts';

interface NotificationSectionProps {
  readonly bucket: string;
  readonly mayEdit: boolean;
}

interface Target {
  readonly arn: string;
  readonly state: 'not-configured' | 'full' | 'offline' | 'online';
  readonly waiting: { readonly events: number };
  readonly failure?: { readonly error: string };
  /** The events that the target refuses. */
  readonly held?: { readonly events: number; readonly error: string };
}

interface Notifications {
  readonly root: XmlNode | undefined;
  readonly rules: readonly NotificationRule[];
}

function useRules(bucket: string) {
  return useQuery({
    queryKey: ['notification', bucket],
    queryFn: async (): Promise<Notifications> => {
      // A bucket without rules has an empty document.
      const root = (await configuration(bucket, subresources.notification))?.root;
      const elements = root?.children.filter(({ name }) => name === 'QueueConfiguration') ?? [];
      return { root, rules: elements.map(notificationRule) };
    },
  });
}

/** Writes the rules into the document that they come from. */
function useSetRules(bucket: string) {
  return useApiMutation(
    ({ root, rules }: Notifications) =>
      editConfiguration(bucket, subresources.notification, (now) => {
        expectSame(now, root);
        return notificationDocument(rules, root);
      }),
    ['notification', 'notification-targets'],
  );
}

/** Returns the targets of the server with their queues. Users who may not see the server get none. */
function useTargets() {
  const { may } = useRights();
  const targets = useQuery({
    queryKey: ['notification-targets'],
    queryFn: async (query) => {
      const request = { refresh: isRefresh(query) };
      return (await admin<{ readonly targets: readonly Target[] }>('GET', 'coffer/notifications', request)).targets;
    },
    enabled: may('admin:ServerInfo'),
    refetchInterval: 15_000,
  });
  return targets.data ?? [];
}

/** Shows the targets that the server notifies of changes of objects. */
export function NotificationSection({ bucket, mayEdit }: NotificationSectionProps) {
  const rules = useRules(bucket);
  const set = useSetRules(bucket);
  const targets = useTargets();
  return (
    <RulesSection
      draft="notification"
      title={t.bucketSettings.notifications}
      words={t.bucketSettings.whomTheServerTellsAboutWhatHappens}
      what={t.bucketSettings.theNotificationsCannotBeShown}
      add={t.bucketSettings.addANotification}
      none={t.bucketSettings.noRulesTheServerSendsNoNotifications}
      saved={t.bucketSettings.theNotificationsAreSaved}
      mayEdit={mayEdit}
      query={rules}
      rulesOf={(answer) => answer.rules}
      save={(rules, { root }) => set.mutateAsync({ root, rules })}
      row={({ rule, index, onEdit, onRemove }) => (
        <RuleCard
          key={`${rule.id} ${index}`}
          name={rule.id || `${index + 1}`}
          mayEdit={mayEdit}
          onEdit={onEdit}
          onRemove={onRemove}
        >
          <Text size="sm">{describeNotification(rule, sayNames)}</Text>
          <TargetState target={targets.find(({ arn }) => targetName(arn) === targetName(rule.arn))} />
        </RuleCard>
      )}
      dialog={(shown, index, editor) => (
        <NotificationDialog
          rule={shown[index] ?? emptyNotification}
          targets={targets.filter(({ state }) => state !== 'not-configured').map(({ arn }) => arn)}
          {...editor}
        />
      )}
    />
  );
}

const stateWords = {
  online: ['patina', t.bucketSettings.theTargetAnswers],
  offline: ['red', t.bucketSettings.theTargetDoesNotAnswer],
  full: ['red', t.bucketSettings.theQueueIsFull],
  'not-configured': ['yellow', t.bucketSettings.theServerHasNoSuchTargetAny],
} as const;

function TargetState({ target }: { readonly target: Target | undefined }) {
  if (target === undefined) return null;
  const [color, words] = stateWords[target.state];
  return (
    <Group gap="xs" mt={2}>
      <Badge color={color}>{words}</Badge>
      {target.waiting.events > 0 && (
        <Text size="xs" c="dimmed">
          {say(t.bucketSettings.eventsWait, { events: target.waiting.events })}
        </Text>
      )}
      {target.failure && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {target.failure.error}
        </Text>
      )}
      {target.held && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {say(t.bucketSettings.eventsAreRefused, target.held)}
        </Text>
      )}
      {target.held && <HeldEvents target={targetName(target.arn)} />}
    </Group>
  );
}

interface NotificationDialogProps extends EditorProps<NotificationRule> {
  readonly rule: NotificationRule;
  readonly targets: readonly string[];
}

function NotificationDialog({ rule, targets, ...editor }: NotificationDialogProps) {
  const [edited, setEdited] = useDraft('notification.rule', rule);
  const issue = notificationIssue(edited);
  const words = eventWords();
  const known = Object.entries(words).map(([value, label]) => ({
    value,
    label: say(t.bucketSettings.anObjectIs, { label }),
  }));
  const others = rule.events.filter((event) => words[event] === undefined);
  return (
    <RuleDialog
      title={t.bucketSettings.aNotification}
      submit={t.bucketSettings.saveNotification}
      edited={edited}
      issue={issue}
      {...editor}
    >
      <Autocomplete
        label={t.bucketSettings.target}
        description={
          targets.length === 0
            ? t.bucketSettings.theArnOfATargetForExample
            : t.bucketSettings.oneOfTheTargetsOfThisServer
        }
        data-autofocus
        spellCheck={false}
        data={[...targets]}
        value={edited.arn}
        onChange={(arn) => setEdited({ ...edited, arn })}
      />
      <MultiSelect
        label={t.bucketSettings.events}
        data={[...known, ...others.map((value) => ({ value, label: value }))]}
        value={[...edited.events]}
        onChange={(events) => setEdited({ ...edited, events })}
      />
      <TextInput
        label={t.labels.keysThatBeginWith}
        description={t.bucketSettings.emptyAllKeys}
        spellCheck={false}
        value={edited.prefix}
        onChange={(event) => setEdited({ ...edited, prefix: event.currentTarget.value })}
      />
      <TextInput
        label={t.bucketSettings.andEndWith}
        spellCheck={false}
        value={edited.suffix}
        onChange={(event) => setEdited({ ...edited, suffix: event.currentTarget.value })}
      />
      {issue === undefined && (
        <Text size="sm" c="dimmed" aria-live="polite">
          {describeNotification(edited, sayNames)}
        </Text>
      )}
      <UnknownFields parts={unknownOfNotification(edited)} />
    </RuleDialog>
  );
}
