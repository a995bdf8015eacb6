import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { setCached, useOperation } from '../../api/index.ts';
import { common } from '../../text/en/common.ts';
import { signIn as words } from '../../text/en/sign-in.ts';
import { Brand } from '../../ui/Brand.tsx';
import { SignInForm } from './SignInForm.tsx';
import css from './SignInPage.module.css';
import { returnAddress } from './session.ts';

export const SignInPage = () => {
  const { return_to } = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  const branding = useOperation('getSignInBranding', {});
  const address = returnAddress(return_to);
  useEffect(() => {
    document.title = `${words.title} · ${common.product}`;
  }, []);
  const name = branding.data?.workspace_name ?? '';
  return (
    <main className={css.page}>
      <div className={css.column}>
        <Brand branding={branding.data} size={28} />
        <h1 className={css.title}>{words.title}</h1>
        <p className={css.lead}>{name === '' ? words.leadPlain : words.lead(name)}</p>
        <SignInForm
          returnTo={address}
          onSignedIn={async (reply) => {
            setCached('getMe', {}, reply);
            await navigate({ href: address, replace: true });
          }}
        />
      </div>
    </main>
  );
};
