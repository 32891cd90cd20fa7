import { Button, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useMutation, type UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Loaded, Section } from '../components/detail-page.tsx';
import { notifyDone } from '../components/feedback.tsx';
import { FormDialog, FormError } from '../components/form-dialog.tsx';
import type { EditorProps } from './setting-section.tsx';
import { isSame } from '../text/element-form.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

/** A rule in the list, with the functions of its buttons. */
interface ListedRule<Rule> {
  readonly rule: Rule;
  readonly index: number;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

interface RulesSectionProps<Answer, Rule> {
  /** The name of the draft that remembers which dialog is open. */
  readonly draft: string;
  readonly title: string;
  readonly words: string;
  /** The error message, for example `The lifecycle cannot be shown`. */
  readonly what: string;
  /** The label of the button that adds a rule. */
  readonly add: string;
  /** The text for a bucket without rules. */
  readonly none: string;
  /** The message after the rules are saved. */
  readonly saved: string;
  readonly mayEdit: boolean;
  readonly query: UseQueryResult<Answer>;
  readonly rulesOf: (answer: Answer) => readonly Rule[];
  /** Writes all rules; `before` is the answer that they come from. */
  readonly save: (rules: readonly Rule[], before: Answer) => Promise<unknown>;
  readonly row: (listed: ListedRule<Rule>) => ReactNode;
  /** Content below the rules. */
  readonly below?: (rules: readonly Rule[]) => ReactNode;
  /** The index is the number of rules for a new rule. */
  readonly dialog: (rules: readonly Rule[], index: number, editor: EditorProps<Rule>) => ReactNode;
}

/** The rule that a dialog adds or edits. It has no ID that is sure, so it is found by its content. `index` is its place when the dialog opened. */
type Edited<Rule> = { readonly index: number } & (
  { readonly kind: 'new' } | { readonly kind: 'present'; readonly rule: Rule }
);

interface Change<Rule> {
  /** The rule that is replaced or removed; undefined to add one. */
  readonly old?: Rule;
  /** Undefined to remove the old one. */
  readonly rule?: Rule;
}

/**
 * Shows a list of rules of a bucket, and the dialog that adds or edits one. S3 writes all rules at once. They are read right before a write,
 * so that what another administrator has changed since the page read them stays.
 */
export function RulesSection<Answer, Rule>(props: RulesSectionProps<Answer, Rule>) {
  const { draft, title, words, what, add, none, mayEdit, query, rulesOf, row, below, dialog } = props;
  const [edited, setEdited] = useDraft<Edited<Rule> | undefined>(`${draft}.edited`, undefined);
  const set = useMutation({
    mutationFn: async ({ old, rule }: Change<Rule>) => {
      const { data } = await query.refetch({ throwOnError: true });
      if (data === undefined) return;
      const rules = rulesOf(data);
      const index = old === undefined ? rules.length : indexOf(rules, old);
      if (index === -1) throw new Error(t.bucketSettings.theRuleWasChangedMeanwhile);
      await props.save(
        [...rules.slice(0, index), ...(rule === undefined ? [] : [rule]), ...rules.slice(index + 1)],
        data,
      );
    },
    onSuccess: () => {
      setEdited(undefined);
      notifyDone(props.saved);
    },
  });

  function close(): void {
    set.reset();
    setEdited(undefined);
  }

  /** Sends nothing where the user changed nothing. */
  function save(before: Edited<Rule>, rule: Rule): void {
    if (before.kind === 'new') set.mutate({ rule });
    else if (isSame(before.rule, rule)) close();
    else set.mutate({ old: before.rule, rule });
  }

  function list(rules: readonly Rule[]): ReactNode {
    return (
      <Stack gap="xs">
        {rules.length === 0 && (
          <Text size="sm" c="dimmed">
            {none}
          </Text>
        )}
        {rules.map((rule, index) =>
          row({
            rule,
            index,
            onEdit: () => setEdited({ kind: 'present', index, rule }),
            onRemove: () => set.mutate({ old: rule }),
          }),
        )}
        {edited === undefined && <FormError error={set.error} />}
        {below?.(rules)}
        {edited !== undefined &&
          // The rules have the saved one before the dialog closes.
          dialog(rules, set.isPending ? edited.index : placeOf(rules, edited), {
            pending: set.isPending,
            error: set.error,
            onSave: (rule) => save(edited, rule),
            onClose: close,
          })}
      </Stack>
    );
  }

  return (
    <Section
      title={title}
      words={words}
      action={
        mayEdit &&
        query.isSuccess && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconPlus size={14} />}
            onClick={() => setEdited({ kind: 'new', index: rulesOf(query.data).length })}
          >
            {add}
          </Button>
        )
      }
    >
      <Loaded what={what} query={query}>
        {(answer) => list(rulesOf(answer))}
      </Loaded>
    </Section>
  );
}

function indexOf<Rule>(rules: readonly Rule[], rule: Rule): number {
  return rules.findIndex((one) => isSame(one, rule));
}

/** The place of the edited rule; the one after the last for a new rule, and for one that is not there any more. */
function placeOf<Rule>(rules: readonly Rule[], edited: Edited<Rule>): number {
  const index = edited.kind === 'new' ? -1 : indexOf(rules, edited.rule);
  return index === -1 ? rules.length : index;
}

interface RuleDialogProps<Rule> extends EditorProps<Rule> {
  readonly title: string;
  readonly submit: string;
  readonly edited: Rule;
  /** The reason why the rule cannot be saved; undefined if it can. */
  readonly issue: string | undefined;
  readonly children: ReactNode;
}

/** A dialog for one rule. It shows the problem of the rule after the first attempt to save it. */
export function RuleDialog<Rule>(props: RuleDialogProps<Rule>) {
  const { edited, issue, onSave, error, ...dialog } = props;
  const [tried, setTried] = useState(false);

  function submit(): void {
    setTried(true);
    if (issue === undefined) onSave(edited);
  }

  return <FormDialog {...dialog} error={tried && issue !== undefined ? new Error(issue) : error} onSubmit={submit} />;
}
