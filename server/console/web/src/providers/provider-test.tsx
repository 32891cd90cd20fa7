import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { SubmitEvent } from 'react';
import { useTestProvider } from '../api/providers.ts';
import type { ProviderName } from '../api/providers.ts';
import { FormError } from '../shell/form-dialog.tsx';
import { Section } from '../shell/section.tsx';
import { ProviderSteps } from './provider-steps.tsx';

const words: Readonly<Record<string, string>> = {
  openid:
    'Goes the way of a sign-in as far as it goes without a person: certificates, discovery, keys, the client and its secret.',
  ldap: 'Goes the way of a sign-in without the password: connection, lookup account, the person, their groups, what is attached to them.',
};

/** Tries what is saved, and changes nothing. */
export function ProviderTest({ id }: { readonly id: ProviderName }) {
  const test = useTestProvider(id);
  const [person, setPerson] = useState('');
  const named = person.trim() === '' ? {} : { person: person.trim() };

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    test.mutate(named);
  }

  return (
    <Section title="Test" words={words[id.type] ?? 'Goes the way of a sign-in.'}>
      <Stack gap="sm">
        <form onSubmit={submit}>
          <Group gap="xs" align="flex-end">
            {id.type === 'ldap' && (
              <TextInput
                label="Person"
                description="A name as people type it, or a distinguished name. May be left out."
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                maxLength={1024}
                w={360}
                value={person}
                onChange={(event) => setPerson(event.currentTarget.value)}
              />
            )}
            <Button type="submit" variant="default" loading={test.isPending}>
              Test now
            </Button>
          </Group>
        </form>
        {test.isError && <FormError error={test.error} />}
        {test.isSuccess && <ProviderSteps steps={test.data.steps} />}
      </Stack>
    </Section>
  );
}
