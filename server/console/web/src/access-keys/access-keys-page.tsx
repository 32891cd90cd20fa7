import { SegmentedControl } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useState } from 'react';
import { useAccessKeys } from '../api/access-keys.ts';
import { useRights } from '../api/session.ts';
import { Empty } from '../components/feedback.tsx';
import { ListPage, useSearch } from '../components/list-page.tsx';
import { AccessKeyTable } from './access-key-table.tsx';
import { CreateAccessKeyButton } from './access-key-form.tsx';

export function AccessKeysPage() {
  const { may, mayOwn } = useRights();
  const mayAll = may('admin:ListServiceAccounts') && may('admin:ListUsers');
  const [of, setOf] = useState<'own' | 'all'>('own');
  const search = useSearch();
  const keys = useAccessKeys(of, search.contains);
  return (
    <ListPage
      title="Access keys"
      one="access key"
      list={keys}
      search={search}
      actions={
        <>
          {mayAll && (
            <SegmentedControl
              aria-label="Whose access keys"
              size="xs"
              value={of}
              onChange={(chosen) => setOf(chosen === 'all' ? 'all' : 'own')}
              data={[
                { value: 'own', label: 'Mine' },
                { value: 'all', label: 'Everybody’s' },
              ]}
            />
          )}
          {mayOwn('admin:CreateServiceAccount') && <CreateAccessKeyButton />}
        </>
      }
      empty={
        <Empty icon={<IconKey size={34} stroke={1.3} />} title="No access keys yet">
          Programs use an access key of their own, which may do what you may, or less, and can be taken away alone.
        </Empty>
      }
    >
      {(rows) => <AccessKeyTable keys={rows} showOwner={of === 'all'} />}
    </ListPage>
  );
}
