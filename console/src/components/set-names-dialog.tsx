import type { ReactNode, ComponentProps } from 'react';
import type { UseMutationResult } from '@tanstack/react-query';
import type { NameChange } from '../../../protocol/console/identity-answers.ts';
import { FormDialog, fieldError } from './form-dialog.tsx';
import { notifyDone } from './feedback.tsx';
import { PolicyPicker } from './name-picker.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { nameChange } from './name-change.ts';
import { useDraft } from './use-draft.ts';

interface SetNamesDialogProps {
  readonly title: string;
  /** The names before the change. */
  readonly names: readonly string[];
  readonly set: UseMutationResult<unknown, Error, NameChange>;
  /** The message after saving. */
  readonly saved: string;
  /** Fields that show their own errors. */
  readonly fields?: readonly string[];
  readonly onClose: () => void;
  readonly children: (names: readonly string[], onChange: (names: readonly string[]) => void) => ReactNode;
}

/** Changes a list of names. It sends the difference to the names that the user saw, so that what others changed meanwhile stays. */
export function SetNamesDialog({ title, names, set, saved, fields = [], onClose, children }: SetNamesDialogProps) {
  // The names before the change belong to the draft: after a reload, the page has newer ones.
  const [{ before, chosen }, setDraft] = useDraft('names', { before: names, chosen: names });

  function save(): void {
    const change = nameChange(before, chosen);
    if (change === undefined) {
      onClose();
      return;
    }
    set.mutate(change, {
      onSuccess: () => {
        notifyDone(saved);
        onClose();
      },
    });
  }

  return (
    <FormDialog
      title={title}
      submit={t.labels.save}
      pending={set.isPending}
      error={set.error}
      fields={fields}
      onSubmit={save}
      onClose={onClose}
    >
      {children(chosen, (next) => setDraft({ before, chosen: next }))}
    </FormDialog>
  );
}

interface SetPoliciesDialogProps extends Pick<ComponentProps<typeof SetNamesDialog>, 'set' | 'onClose'> {
  /** The user or the group. */
  readonly holder: { readonly name: string; readonly policies: readonly string[] };
  readonly description: string;
}

export function SetPoliciesDialog({ holder: { name, policies }, set, description, onClose }: SetPoliciesDialogProps) {
  return (
    <SetNamesDialog
      title={say(t.components.policiesOf, { name })}
      names={policies}
      set={set}
      saved={say(t.components.thePoliciesOfAreSavedTheyCount, { name })}
      fields={['policies']}
      onClose={onClose}
    >
      {(value, onChange) => (
        <PolicyPicker
          value={value}
          onChange={onChange}
          error={fieldError(set.error, 'policies')}
          description={description}
        />
      )}
    </SetNamesDialog>
  );
}
