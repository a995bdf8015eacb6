import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { type Branding, mePath, useGet, useSetCached } from '../../api/index.ts';
import { Brand } from '../../app/Brand.tsx';
import { SignInForm } from '../../app/SignInForm.tsx';
import { returnAddress } from '../../app/session.ts';
import { common } from '../../text/en/common.ts';
import { signIn as words } from '../../text/en/sign-in.ts';
import css from './SignInPage.module.css';

/** The way in. It returns to the address that was asked for. */
export const SignInPage = () => {
  const { return_to } = useSearch({ strict: false }) as { return_to?: string };
  const navigate = useNavigate();
  const branding = useGet<Branding>('/app/api/branding');
  const setCached = useSetCached();
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
            setCached(mePath, reply);
            await navigate({ href: address, replace: true });
          }}
        />
      </div>
    </main>
  );
};
