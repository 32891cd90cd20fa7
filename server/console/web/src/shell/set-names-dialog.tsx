import { useState } from 'react';
import type { ReactNode } from 'react';
import type { UseMutationResult } from '@tanstack/react-query';
import { FormDialog } from './form-dialog.tsx';
import { notifyDone } from './notify.ts';

interface SetNamesDialogProps {
  readonly title: string;
  /** Those that are set now. */
  readonly names: readonly string[];
  readonly set: UseMutationResult<unknown, Error, readonly string[]>;
  /** What the person reads once they are saved. */
  readonly saved: string;
  /** Fields that show a refusal themselves. */
  readonly fields?: readonly string[];
  readonly onClose: () => void;
  /** Picks them. */
  readonly children: (names: readonly string[], onChange: (names: readonly string[]) => void) => ReactNode;
}

/** A whole list of names, which counts as it stands once it is saved. */
export function SetNamesDialog({ title, names, set, saved, fields = [], onClose, children }: SetNamesDialogProps) {
  const [chosen, setChosen] = useState(names);

  function save(): void {
    set.mutate(chosen, {
      onSuccess: () => {
        notifyDone(saved);
        onClose();
      },
    });
  }

  return (
    <FormDialog
      title={title}
      submit="Save"
      pending={set.isPending}
      error={set.error}
      fields={fields}
      onSubmit={save}
      onClose={onClose}
    >
      {children(chosen, setChosen)}
    </FormDialog>
  );
}
