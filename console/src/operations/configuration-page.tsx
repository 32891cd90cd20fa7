import { Accordion, Anchor, Badge, Group, Stack, Tabs, Text, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { admin, adminText } from '../api/admin.ts';
import { DetailPage, Loaded } from '../components/detail-page.tsx';
import { CopyText } from '../components/copy-text.tsx';
import { RowTable } from '../components/row-table.tsx';
import { ConfigurationHistory } from './configuration-history.tsx';
import { givenValues } from './given-values.ts';
import { say } from '../texts/say.ts';
import { HelpText } from '../components/help-text.tsx';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

/** The help of `mc admin config`. */
interface Help {
  readonly keysHelp: readonly {
    readonly key: string;
    readonly description: string;
    readonly optional: boolean;
    readonly type: string;
  }[];
}

/** The configuration by subsystem with its help, and its history: `mc admin config` in the browser. */
export function ConfigurationPage() {
  return (
    <DetailPage title={t.configuration.configuration}>
      <Tabs defaultValue="subsystems" keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="subsystems">{t.configuration.subsystems}</Tabs.Tab>
          <Tabs.Tab value="history">{t.configuration.history}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="subsystems">
          <Subsystems />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <ConfigurationHistory />
        </Tabs.Panel>
      </Tabs>
    </DetailPage>
  );
}

function Subsystems() {
  const [text, setText] = useDraft('filter', '');
  const [opened, setOpened] = useState<string[]>([]);
  const wanted = text.trim().toLowerCase();
  const help = useQuery({
    queryKey: ['configuration'],
    queryFn: () => admin<Help>('GET', 'help-config-kv'),
    staleTime: Infinity,
  });
  return (
    <Loaded what={t.configuration.theConfigurationCannotBeShown} query={help}>
      {({ keysHelp }) => (
        <Stack gap="md">
          <TextInput
            aria-label={t.configuration.filterSubsystems}
            placeholder={t.labels.filter}
            leftSection={<IconSearch size={15} />}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            w={{ base: '100%', xs: 280 }}
          />
          <Accordion variant="contained" multiple value={opened} onChange={setOpened}>
            {keysHelp
              .filter(({ key, description }) => `${key} ${description}`.toLowerCase().includes(wanted))
              .map(({ key, description }) => (
                <Accordion.Item key={key} value={key}>
                  <Accordion.Control>
                    <Stack gap={2}>
                      <Text fw={550} size="sm">
                        {key}
                      </Text>
                      <Text size="xs" c="dimmed">
                        <HelpText text={description} />
                      </Text>
                    </Stack>
                  </Accordion.Control>
                  <Accordion.Panel>
                    {/* React renders closed panels too, which would be loading for ever. */}
                    {opened.includes(key) && <Subsystem name={key} />}
                  </Accordion.Panel>
                </Accordion.Item>
              ))}
          </Accordion>
        </Stack>
      )}
    </Loaded>
  );
}

function Subsystem({ name }: { readonly name: string }) {
  const subsystem = useQuery({
    queryKey: ['configuration', name],
    queryFn: async () => {
      const [help, text] = await Promise.all([
        admin<Help>('GET', 'help-config-kv', { query: { subSys: name, env: '' } }),
        adminText('GET', 'get-config-kv', { query: { key: name } }),
      ]);
      return { keys: help.keysHelp, given: givenValues(text), text };
    },
  });
  return (
    <Loaded what={say(t.labels.cannotBeShown, { name })} query={subsystem}>
      {({ keys, given, text }) =>
        name.startsWith('identity_') && !name.endsWith('_tls') && !name.endsWith('_plugin') ? (
          <Stack gap="xs">
            <pre className="document">{text.trim()}</pre>
            <Anchor component={Link} to="/identity-providers" size="sm">
              {t.configuration.changeItOnThePageOfThe}
            </Anchor>
          </Stack>
        ) : (
          <RowTable
            rows={keys}
            rowKey={({ key }) => key}
            columns={[
              {
                head: t.configuration.variable,
                cell: ({ key, description }) => (
                  <Stack gap={0}>
                    <CopyText text={key} />
                    <Text size="xs" c="dimmed">
                      <HelpText text={description} />
                    </Text>
                  </Stack>
                ),
              },
              { head: t.configuration.value, width: 280, cell: ({ key }) => <Value value={given.get(key)} /> },
            ]}
          />
        )
      }
    </Loaded>
  );
}

function Value({ value }: { readonly value: string | undefined }) {
  if (value === undefined) {
    return (
      <Text size="sm" c="dimmed">
        {t.configuration.notSet}
      </Text>
    );
  }
  return (
    <Group gap={8}>
      <span className="mono">{value}</span>
      <Badge color="gray">{t.configuration.environment}</Badge>
    </Group>
  );
}
