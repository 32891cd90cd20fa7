import { Button, Group, Stack, TextInput, Badge, Table, Text } from '@mantine/core';
import type { SubmitEvent } from 'react';
import { useTestProvider, type ProviderName } from '../api/providers.ts';
import { FormError } from '../components/form-dialog.tsx';
import { Section } from '../components/detail-page.tsx';
import type { ProviderTest } from '../../../protocol/console/provider-answers.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

const words: Readonly<Record<string, string>> = {
  openid: t.providers.goesTheWayOfASignIn,
  ldap: t.providers.goesTheWayOfASignInWithout,
};

/** Tests the saved configuration and changes nothing. */
export function ProviderTestSection({ id }: { readonly id: ProviderName }) {
  const test = useTestProvider(id);
  const [person, setPerson] = useDraft('test.name', '');
  const named = person.trim() === '' ? {} : { person: person.trim() };

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    test.mutate(named);
  }

  return (
    <Section title={t.providers.test} words={words[id.type] ?? t.providers.goesTheWayOfASignInTitle}>
      <Stack gap="sm">
        <form onSubmit={submit}>
          <Group gap="xs" align="flex-end">
            {id.type === 'ldap' && (
              <TextInput
                label={t.labels.person}
                description={t.providers.aNameAsPeopleTypeItOr}
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                maxLength={1024}
                w={{ base: '100%', xs: 360 }}
                value={person}
                onChange={(event) => setPerson(event.currentTarget.value)}
              />
            )}
            <Button type="submit" variant="default" loading={test.isPending}>
              {t.providers.testNow}
            </Button>
          </Group>
        </form>
        {test.isError && <FormError error={test.error} />}
        {test.isSuccess && <ProviderSteps steps={test.data.steps} />}
      </Stack>
    </Section>
  );
}

const outcomeColors = { ok: 'patina', failed: 'red', unclear: 'yellow', skipped: 'gray' } as const;

/** The steps of a sign-in, up to the first that failed. */
export function ProviderSteps({ steps }: ProviderTest) {
  return (
    <div className="rows" role="status" aria-label={t.providers.resultOfTheTest}>
      <Table>
        <Table.Tbody>
          {steps.map(({ step, outcome, message }) => (
            <Table.Tr key={step}>
              <Table.Th scope="row" w={120}>
                {step}
              </Table.Th>
              <Table.Td w={90}>
                <Badge color={outcomeColors[outcome]}>{outcome}</Badge>
              </Table.Td>
              <Table.Td>
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {message}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
