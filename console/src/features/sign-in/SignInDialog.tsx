import { useEffect, useEffectEvent } from 'react';
import { getMe, type Me } from '../../api/me.ts';
import { call } from '../../api/mutation.ts';
import { queryClient, setCached } from '../../api/query.ts';
import type { Reply } from '../../api/request.ts';
import { forgetUnsaved } from '../../api/unsaved.ts';
import { to } from '../../routing/to.ts';
import { shell } from '../../text/en/shell.ts';
import { signIn } from '../../text/en/sign-in.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { SignInForm } from './SignInForm.tsx';

/**
 * Signs in over the page, so that what was typed on it stays. Someone else gets no page of the person before: the
 * application is loaded again.
 */
export const SignInDialog = ({ onClose }: { onClose: () => void }) => {
  const onSignedIn = (reply: Reply<Me>) => {
    if (getMe()?.principal.id !== reply.body.principal.id) {
      forgetUnsaved();
      return location.assign(to('/'));
    }
    setCached('getMe', {}, reply);
    onClose();
    void queryClient.invalidateQueries();
  };
  // The identity provider is in another tab: the person comes back from it with a session, or without one yet.
  const look = useEffectEvent(async () => {
    const reply = await call('getMe', {}).catch(() => null);
    if (reply) onSignedIn(reply);
  });
  useEffect(() => {
    const listener = () => void look();
    addEventListener('focus', listener);
    return () => removeEventListener('focus', listener);
  }, []);
  return (
    <Dialog open onClose={() => {}} title={signIn.title} onlyByButton closable={false}>
      <p>{shell.sessionEndedUnsaved}</p>
      <SignInForm returnTo={to('/')} inNewTab onSignedIn={onSignedIn} />
    </Dialog>
  );
};
