import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import {
  type Branding,
  type Me,
  mePath,
  request,
  useAction,
  useGet,
  useSetCached,
  withQuery,
} from '../../api/index.ts';
import { Brand } from '../../app/Brand.tsx';
import { returnAddress } from '../../app/session.ts';
import { common } from '../../text/en/common.ts';
import { signIn as words } from '../../text/en/sign-in.ts';
import { Button, PasswordField, Problem } from '../../ui/index.ts';
import css from './SignInPage.module.css';

interface Options {
  oidc: { name: string; ready: boolean } | null;
  api_key: boolean;
}

/** The way in: the identity provider if there is one, or an API key. It returns to the address that was asked for. */
export const SignInPage = () => {
  const { return_to } = useSearch({ strict: false }) as { return_to?: string };
  const navigate = useNavigate();
  const options = useGet<Options>('/app/api/sign-in/options');
  const branding = useGet<Branding>('/app/api/branding');
  const setCached = useSetCached();
  const [key, setKey] = useState('');
  const address = returnAddress(return_to);
  const action = useAction(async () => {
    const reply = await request<Me>('POST', '/app/api/sessions', { body: { api_key: key.trim() } });
    setKey('');
    setCached(mePath, reply);
    await navigate({ href: address, replace: true });
  });
  useEffect(() => {
    document.title = `${words.title} · ${common.product}`;
  }, []);
  const oidc = options.data?.oidc ?? null;
  const keyField = useRef<HTMLInputElement>(null);
  // With an identity provider most people need no key, and a field with the focus opens the keyboard of a phone.
  const keyFirst = !options.loading && oidc === null;
  useEffect(() => {
    if (keyFirst) keyField.current?.focus();
  }, [keyFirst]);
  const name = branding.data?.workspace_name ?? '';
  const wrongKey = action.error?.status === 401;
  return (
    <main className={css.page}>
      <div className={css.column}>
        <Brand branding={branding.data} size={28} />
        <h1 className={css.title}>{words.title}</h1>
        <p className={css.lead}>{name === '' ? words.leadPlain : words.lead(name)}</p>
        {oidc && (
          <>
            <a className={css.provider} href={withQuery('/app/api/sign-in', { return_to: address })}>
              {words.withProvider(oidc.name)}
            </a>
            {!oidc.ready && <p className={css.down}>{words.providerDown(oidc.name)}</p>}
            <div className={css.or}>{words.orKey}</div>
          </>
        )}
        <form
          className={css.form}
          onSubmit={(event) => {
            event.preventDefault();
            void action.run();
          }}
        >
          <PasswordField
            label={words.apiKey}
            name="api_key"
            value={key}
            onChange={setKey}
            autoComplete="current-password"
            placeholder="ap_…"
            hint={words.keyHint}
            error={wrongKey ? words.wrongKey : undefined}
            mono
            inputRef={keyField}
          />
          {action.error && !wrongKey && <Problem error={action.error} />}
          <Button type="submit" wide kind={oidc ? 'plain' : 'primary'} busy={action.busy}>
            {words.title}
          </Button>
        </form>
      </div>
    </main>
  );
};
