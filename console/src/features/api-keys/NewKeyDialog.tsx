import { useState } from 'react';
import { type Body, type Output, useMe } from '../../api/index.ts';
import { SubmitForm, useCreateForm } from '../../resource/index.ts';
import { apiKeys as words } from '../../text/en/api-keys.ts';
import { common } from '../../text/en/common.ts';
import { Dialog, MultiSelect, Segmented, Select, TextField } from '../../ui/index.ts';
import { KeyValue } from './KeyValue.tsx';
import { scopes } from './scopes.ts';

const roles = ['member', 'builder', 'admin'] as const;
type Role = (typeof roles)[number];
type Kind = 'service_account' | 'personal';
type Owner = 'maker' | 'workspace';

const endOf = (day: string): string => new Date(`${day}T23:59:59`).toISOString();

const noValues = {
  name: '',
  kind: 'service_account' as Kind,
  role: 'member' as Role,
  owner: 'maker' as Owner,
  scopes: [] as string[],
  expires_at: '',
};

export const NewKeyDialog = ({ onClose }: { onClose: () => void }) => {
  const { principal, limits } = useMe();
  const [created, setCreated] = useState<Output<'createApiKey'> | null>(null);
  const person = principal.kind === 'person';
  const form = useCreateForm({
    operation: 'createApiKey',
    params: {},
    first: noValues,
    toBody: ({ name, kind, role, owner, scopes, expires_at }) => ({
      name,
      kind,
      ...(kind === 'personal' ? {} : { role }),
      ...(kind === 'service_account' && owner === 'workspace' ? { owner } : {}),
      ...(scopes.length > 0 ? { scopes: scopes as Body<'createApiKey'>['scopes'] } : {}),
      ...(expires_at === '' ? {} : { expires_at: endOf(expires_at) }),
    }),
    onCreated: setCreated,
  });
  if (created) return <KeyValue title={words.newKey} created={created} onClose={onClose} />;
  const allowed = roles.slice(0, roles.indexOf(principal.role) + 1);
  const days = limits?.max_api_key_days ?? 0;
  return (
    <Dialog open onClose={onClose} title={words.newKey}>
      <SubmitForm form={form} submit={words.create}>
        <TextField {...form.field('name')} label={common.name} hint={words.nameHint} required autoFocus />
        {person && (
          <Segmented
            {...form.field('kind')}
            label={words.kind}
            options={(['service_account', 'personal'] as const).map((value) => ({
              value,
              label: words.kinds[value],
            }))}
          />
        )}
        {form.values.kind === 'personal' ? (
          <p>{words.kindHints.personal}</p>
        ) : (
          <Select
            {...form.field('role')}
            onChange={(role) => form.set({ role: role as Role })}
            label={words.role}
            options={allowed.map((value) => ({
              value,
              label: words.roles[value],
              note: words.roleHints[value],
            }))}
          />
        )}
        {person && principal.role === 'admin' && form.values.kind === 'service_account' && (
          <Segmented
            {...form.field('owner')}
            label={words.owner}
            options={(['maker', 'workspace'] as const).map((value) => ({
              value,
              label: words.owners[value],
            }))}
          />
        )}
        {person && form.values.kind === 'service_account' && <p>{words.ownerHints[form.values.owner]}</p>}
        <MultiSelect
          {...form.field('scopes')}
          label={words.scopes}
          hint={words.scopesHint}
          options={scopes.map((value) => ({ value, label: value }))}
        />
        <TextField
          {...form.field('expires_at')}
          type="date"
          label={words.expires}
          hint={days > 0 ? words.expiresWithin(days) : words.expiresHint}
        />
      </SubmitForm>
    </Dialog>
  );
};
