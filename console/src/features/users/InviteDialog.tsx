import { SubmitForm, useCreateForm } from '../../resource/index.ts';
import { common } from '../../text/en/common.ts';
import { people as words } from '../../text/en/people.ts';
import { Dialog, TextField } from '../../ui/index.ts';
import { type Role, RoleSelect } from './RoleSelect.tsx';

export const InviteDialog = ({ onClose }: { onClose: () => void }) => {
  const form = useCreateForm({
    operation: 'inviteUser',
    params: {},
    first: { email: '', name: '', role: 'member' as Role },
    toBody: ({ email, name, role }) => ({ email, role, ...(name === '' ? {} : { name }) }),
    created: words.invited,
    onCreated: onClose,
  });
  return (
    <Dialog open onClose={onClose} title={words.invite}>
      <SubmitForm form={form} submit={words.invite}>
        <p>{words.inviteText}</p>
        <TextField {...form.field('email')} label={words.email} type="email" required autoFocus />
        <TextField {...form.field('name')} label={common.name} />
        <RoleSelect value={form.values.role} onChange={(role) => form.set({ role })} />
      </SubmitForm>
    </Dialog>
  );
};
