import { SegmentedControl } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconKey } from '@tabler/icons-react';
import { useState } from 'react';
import { useAccessKeys } from '../api/access-keys.ts';
import { useRights } from '../api/rights.ts';
import { Empty } from '../shell/empty.tsx';
import { ListPage } from '../shell/list-page.tsx';
import { AccessKeyTable } from './access-key-table.tsx';
import { CreateAccessKeyButton } from './create-access-key-button.tsx';

export function AccessKeysPage() {
  const { may, mayOwn } = useRights();
  const mayAll = may('admin:ListServiceAccounts') && may('admin:ListUsers');
  const [of, setOf] = useState<'own' | 'all'>('own');
  const [filter, setFilter] = useState('');
  const [contains] = useDebouncedValue(filter, 200);
  const keys = useAccessKeys(of, of === 'all' ? contains : '');
  const all = keys.data?.keys ?? [];
  const wanted = filter.trim().toLowerCase();
  // One's own are few, and searched here.
  const rows =
    of === 'all' ? all : all.filter((key) => `${key.accessKey} ${key.name ?? ''}`.toLowerCase().includes(wanted));
  return (
    <ListPage
      title="Access keys"
      one="access key"
      query={keys}
      rows={rows.length}
      more={keys.data?.more ?? false}
      filter={filter}
      onFilter={setFilter}
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
      <AccessKeyTable keys={rows} showOwner={of === 'all'} />
    </ListPage>
  );
}
