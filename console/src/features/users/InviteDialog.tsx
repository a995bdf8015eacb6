import { request, useForm, useInvalidate } from '../../api/index.ts';
import { common } from '../../text/en/common.ts';
import { people as words } from '../../text/en/people.ts';
import { Button, Dialog, Form, notify, Problem, TextField } from '../../ui/index.ts';
import { type Role, RoleSelect } from './RoleSelect.tsx';

/** Invites a person by an e-mail address. */
export const InviteDialog = ({ onClose }: { onClose: () => void }) => {
  const invalidate = useInvalidate();
  const form = useForm({ email: '', name: '', role: 'member' as Role }, async ({ email, name, role }) => {
    await request('POST', '/api/v2/users', { body: { email, role, ...(name === '' ? {} : { name }) } });
    notify(words.invited);
    onClose();
    await invalidate('/api/v2/users');
  });
  return (
    <Dialog open onClose={onClose} title={words.invite}>
      <Form
        onSubmit={() => void form.submit()}
        actions={
          <Button type="submit" kind="primary" busy={form.busy}>
            {words.invite}
          </Button>
        }
      >
        <p>{words.inviteText}</p>
        <TextField {...form.field('email')} label={words.email} type="email" required autoFocus />
        <TextField {...form.field('name')} label={common.name} />
        <RoleSelect value={form.values.role} onChange={(role) => form.set({ role })} />
        {form.error && <Problem error={form.error} />}
      </Form>
    </Dialog>
  );
};
