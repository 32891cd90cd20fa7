import { ActionIcon, Badge, Button, Checkbox, Group, Stack, Switch, Text, TextInput } from '@mantine/core';
import { IconPencil, IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { Loaded, Section } from '../components/detail-page.tsx';
import { notifyDone } from '../components/feedback.tsx';
import { FormDialog, FormError } from '../components/form-dialog.tsx';
import { LifecyclePreviewBox } from './lifecycle-preview.tsx';
import { describeRule, emptyRule, ruleProblem, type Rule, type SimpleRule } from './lifecycle-rules.ts';
import { useLifecycle, useSetLifecycle } from './settings-queries.ts';

interface LifecycleSectionProps {
  readonly bucket: string;
  readonly mayEdit: boolean;
}

/** The lifecycle rules as sentences, with an editor. */
export function LifecycleSection({ bucket, mayEdit }: LifecycleSectionProps) {
  const rules = useLifecycle(bucket);
  const set = useSetLifecycle(bucket);
  /** The index of the rule; the count of rules for a new one. */
  const [edited, setEdited] = useState<number>();

  function save(next: readonly Rule[]): void {
    set.mutate(next, {
      onSuccess: () => {
        setEdited(undefined);
        notifyDone('The lifecycle is saved.');
      },
    });
  }

  return (
    <Section
      title="Lifecycle"
      words="What the server removes by itself, once a day."
      action={
        mayEdit &&
        rules.isSuccess && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconPlus size={14} />}
            onClick={() => setEdited(rules.data.length)}
          >
            Add a rule
          </Button>
        )
      }
    >
      <Loaded name="The lifecycle" query={rules}>
        {(shown) => (
          <Stack gap="xs">
            {shown.length === 0 && (
              <Text size="sm" c="dimmed">
                No rules: everything stays until somebody deletes it.
              </Text>
            )}
            {shown.map((rule, index) => (
              <RuleRow
                key={`${rule.id} ${index}`}
                rule={rule}
                mayEdit={mayEdit}
                onEdit={() => setEdited(index)}
                onRemove={() => save(shown.filter((_, at) => at !== index))}
              />
            ))}
            {edited === undefined && <FormError error={set.error} />}
            {edited !== undefined && (
              <RuleDialog
                bucket={bucket}
                rule={simpleRule(shown[edited])}
                isNew={edited === shown.length}
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

function simpleRule(rule: Rule | undefined): SimpleRule {
  return rule?.kind === 'simple' ? rule : emptyRule;
}

interface RuleRowProps {
  readonly rule: Rule;
  readonly mayEdit: boolean;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

function RuleRow({ rule, mayEdit, onEdit, onRemove }: RuleRowProps) {
  const name = rule.id === '' ? 'rule' : `rule ${rule.id}`;
  return (
    <Group justify="space-between" wrap="nowrap" align="flex-start" className="card-row">
      <Stack gap={2}>
        <Group gap="xs">
          {rule.id !== '' && !isGenerated(rule.id) && (
            <Text size="sm" fw={550}>
              {rule.id}
            </Text>
          )}
          {!rule.enabled && <Badge color="gray">off</Badge>}
        </Group>
        {describeRule(rule).map((sentence) => (
          <Text size="sm" key={sentence}>
            {sentence}
          </Text>
        ))}
      </Stack>
      {mayEdit && (
        <Group gap={2} wrap="nowrap">
          {rule.kind === 'simple' && (
            <ActionIcon size="sm" aria-label={`Edit the ${name}`} onClick={onEdit}>
              <IconPencil size={15} />
            </ActionIcon>
          )}
          <ActionIcon size="sm" aria-label={`Remove the ${name}`} onClick={onRemove}>
            <IconTrash size={15} />
          </ActionIcon>
        </Group>
      )}
    </Group>
  );
}

/** The server gives such an ID to a rule without one. */
function isGenerated(id: string): boolean {
  return /^[0-9a-f]{32}$/.test(id);
}

interface RuleDialogProps {
  readonly bucket: string;
  readonly rule: SimpleRule;
  readonly isNew: boolean;
  readonly pending: boolean;
  readonly error: Error | null;
  readonly onSave: (rule: SimpleRule) => void;
  readonly onClose: () => void;
}

const numbers = [
  ['expireDays', 'Delete objects after', 'days'],
  ['noncurrentDays', 'Remove old versions after', 'days'],
  ['keepVersions', 'but keep the newest', 'old versions'],
  ['abortDays', 'Remove unfinished uploads after', 'days'],
] as const;

function RuleDialog({ bucket, rule, isNew, pending, error, onSave, onClose }: RuleDialogProps) {
  const [edited, setEdited] = useState(rule);
  const [tried, setTried] = useState(false);
  const problem = ruleProblem(edited);

  function submit(): void {
    setTried(true);
    if (problem === undefined) onSave(edited);
  }

  return (
    <FormDialog
      title={isNew ? 'Add a lifecycle rule' : 'Edit the lifecycle rule'}
      submit="Save rule"
      pending={pending}
      error={tried && problem !== undefined ? new Error(problem) : error}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="The server gives a name where you leave it empty."
        maxLength={255}
        data-autofocus
        value={edited.id}
        onChange={(event) => setEdited({ ...edited, id: event.currentTarget.value })}
      />
      <TextInput
        label="Keys that begin with"
        description="Empty: all keys of the bucket."
        spellCheck={false}
        value={edited.prefix}
        onChange={(event) => setEdited({ ...edited, prefix: event.currentTarget.value })}
      />
      {numbers.map(([field, label, unit]) => (
        <TextInput
          key={field}
          label={label}
          type="number"
          min={1}
          rightSection={
            <Text size="xs" c="dimmed" pr="md" style={{ whiteSpace: 'nowrap' }}>
              {unit}
            </Text>
          }
          rightSectionWidth={96}
          value={edited[field] ?? ''}
          onChange={(event) => {
            const { value } = event.currentTarget;
            setEdited({ ...edited, [field]: value === '' ? undefined : Number(value) });
          }}
        />
      ))}
      <Checkbox
        label="Remove delete markers without any version before them"
        checked={edited.removeLoneMarkers}
        onChange={(event) => setEdited({ ...edited, removeLoneMarkers: event.currentTarget.checked })}
      />
      <Switch
        label="The rule is on"
        checked={edited.enabled}
        onChange={(event) => setEdited({ ...edited, enabled: event.currentTarget.checked })}
      />
      {problem === undefined && (
        <Text size="sm" c="dimmed" aria-live="polite">
          {describeRule(edited).join(' ')}
        </Text>
      )}
      <LifecyclePreviewBox bucket={bucket} rule={edited} problem={problem} />
    </FormDialog>
  );
}
