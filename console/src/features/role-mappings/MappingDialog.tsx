import { perform, useForm } from '../../api/index.ts';
import type { RoleMapping } from '../../api/types.gen.ts';
import { DeleteDialog, SubmitForm } from '../../resource/index.ts';
import { common } from '../../text/en/common.ts';
import { people as words } from '../../text/en/people.ts';
import { Dialog, NumberField, notify, optionsOf, Select, TextField } from '../../ui/index.ts';
import { Consequences, type Proposed } from './Consequences.tsx';

type Role = RoleMapping['role'];

const { none: _, ...roles } = words.roles;

const proposed = ({ id, claim, value, role, priority }: RoleMapping): Proposed => ({
  id,
  claim,
  value,
  role,
  priority,
});

/** Creates or changes a mapping, and says before whose role changes. */
export const MappingDialog = ({
  mapping,
  all,
  onClose,
}: {
  mapping: RoleMapping | null;
  all: readonly RoleMapping[];
  onClose: () => void;
}) => {
  const { claim, value, role, priority } = mapping ?? {
    claim: 'groups',
    value: '',
    role: 'member' as Role,
    priority: 0,
  };
  const form = useForm({ claim, value, role, priority: priority as number | null }, async (values) => {
    const body = { ...values, priority: values.priority ?? 0 };
    if (mapping) await perform('updateRoleMapping', { role_mapping_id: mapping.id }, { body });
    else await perform('createRoleMapping', {}, { body });
    notify(mapping ? words.mappingSaved : words.mappingCreated);
    onClose();
  });
  const now: Proposed = { id: mapping?.id ?? null, ...form.values, priority: form.values.priority ?? 0 };
  const complete = now.claim !== '' && now.value !== '';
  const title = mapping ? words.editMapping : words.newMapping;
  return (
    <Dialog open onClose={onClose} title={title}>
      <SubmitForm form={form} submit={mapping ? common.save : words.createMapping}>
        <TextField {...form.field('claim')} label={words.claim} hint={words.claimHint} mono required />
        <TextField
          {...form.field('value')}
          label={words.value}
          hint={words.valueHint}
          mono
          required
          autoFocus
        />
        <Select
          {...form.field('role')}
          onChange={(role) => form.set({ role: role as Role })}
          label={words.role}
          options={optionsOf(roles, words.roleHints)}
        />
        <NumberField {...form.field('priority')} label={words.priority} min={0} max={1000} />
        {complete && (
          <Consequences mappings={[...all.filter(({ id }) => id !== mapping?.id).map(proposed), now]} />
        )}
      </SubmitForm>
    </Dialog>
  );
};

/** Asks before a mapping is deleted, and says whose role changes. */
export const DeleteMappingDialog = ({
  mapping,
  all,
  onClose,
}: {
  mapping: RoleMapping;
  all: readonly RoleMapping[];
  onClose: () => void;
}) => (
  <DeleteDialog
    operation="deleteRoleMapping"
    params={{ role_mapping_id: mapping.id }}
    title={words.deleteMapping}
    deleted={words.mappingDeleted}
    onClose={onClose}
  >
    <p>{words.rule(mapping.claim, mapping.value)}</p>
    <Consequences mappings={all.filter(({ id }) => id !== mapping.id).map(proposed)} />
  </DeleteDialog>
);
