import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { notifyDone } from './notify.ts';

interface RemoveDialogProps<What> {
  readonly title: string;
  readonly submit: string;
  readonly remove: UseMutationResult<unknown, Error, What>;
  readonly what: What;
  /** What the person reads once it is gone. */
  readonly done: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Asks before something is taken away, and says that it is. */
export function RemoveDialog<What>({ remove, what, done, onDone, ...dialog }: RemoveDialogProps<What>) {
  return (
    <ConfirmDialog
      {...dialog}
      pending={remove.isPending}
      error={remove.error}
      onConfirm={() =>
        remove.mutate(what, {
          onSuccess: () => {
            notifyDone(done);
            onDone();
          },
        })
      }
    />
  );
}
