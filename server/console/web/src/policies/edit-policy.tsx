import { Button, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import type { SubmitEvent } from 'react';
import { useSavePolicy } from '../api/policies.ts';
import { DetailHead } from '../shell/detail-head.tsx';
import { FormError } from '../shell/form-dialog.tsx';
import { notifyDone } from '../shell/notify.ts';
import { policyUrl } from '../shell/places.ts';
import { PolicyEditor } from './policy-editor.tsx';

interface EditPolicyProps {
  readonly name: string;
  readonly document: string;
  /** When what is replaced was saved: what somebody else saves meanwhile is not overwritten. */
  readonly expects: string | null;
  readonly onDone: () => void;
}

export function EditPolicy({ name, document: begun, expects, onDone }: EditPolicyProps) {
  const save = useSavePolicy();
  const [document, setDocument] = useState(begun);

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    save.mutate(
      { name, document, expects },
      {
        onSuccess: () => {
          notifyDone(`${name} is saved: it counts from the next request on.`);
          onDone();
        },
      },
    );
  }

  return (
    <form onSubmit={submit}>
      <Stack gap="md" maw={860}>
        <DetailHead parent={{ name, to: policyUrl(name) }} name="Edit" />
        <PolicyEditor value={document} onChange={setDocument} />
        {/* The editor itself says what is wrong with the document. */}
        <FormError error={save.error} fields={['policy']} />
        <Group gap="xs">
          <Button type="submit" loading={save.isPending}>
            Save policy
          </Button>
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
