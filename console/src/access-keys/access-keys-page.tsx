import { SegmentedControl } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useAccessKeys } from '../api/access-keys.ts';
import { useRights } from '../api/session.ts';
import { Empty } from '../components/feedback.tsx';
import { ListPage, useSearch } from '../components/list-page.tsx';
import { AccessKeyTable } from './access-key-table.tsx';
import { CreateAccessKeyButton } from './access-key-form.tsx';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

export function AccessKeysPage() {
  const { may, mayOwn } = useRights();
  const mayAll = may('admin:ListServiceAccounts') && may('admin:ListUsers');
  const [of, setOf] = useDraft<'own' | 'all'>('of', 'own');
  const search = useSearch();
  const keys = useAccessKeys(of, search.contains);
  return (
    <ListPage
      title={t.labels.accessKeys}
      list={keys}
      search={search}
      actions={
        <>
          {mayAll && (
            <SegmentedControl
              aria-label={t.accessKeys.whoseAccessKeys}
              size="xs"
              value={of}
              onChange={(chosen) => setOf(chosen === 'all' ? 'all' : 'own')}
              data={[
                { value: 'own', label: t.accessKeys.mine },
                { value: 'all', label: t.accessKeys.everybody },
              ]}
            />
          )}
          {mayOwn('admin:CreateServiceAccount') && <CreateAccessKeyButton />}
        </>
      }
      empty={
        <Empty
          icon={IconKey}
          title={t.accessKeys.noAccessKeysYet}
          missing={mayOwn('admin:CreateServiceAccount') ? undefined : 'admin:CreateServiceAccount'}
        >
          {t.accessKeys.programsUseAnAccessKeyOfTheir}
        </Empty>
      }
    >
      {(rows) => <AccessKeyTable keys={rows} showOwner={of === 'all'} />}
    </ListPage>
  );
}
