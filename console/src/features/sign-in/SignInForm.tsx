import { useEffect, useRef, useState } from 'react';
import type { Me } from '../../api/me.ts';
import { perform, useAction } from '../../api/mutation.ts';
import { addressOf } from '../../api/operations.ts';
import { useOperation } from '../../api/query.ts';
import type { Reply } from '../../api/request.ts';
import { signIn as words } from '../../text/en/sign-in.ts';
import { Button } from '../../ui/Button.tsx';
import { PasswordField } from '../../ui/fields.tsx';
import { Problem } from '../../ui/states.tsx';
import css from './SignInForm.module.css';

/** The two ways in: the identity provider if there is one, which leads to `returnTo`, or an API key. */
export const SignInForm = ({
  returnTo,
  inNewTab = false,
  onSignedIn,
}: {
  returnTo: string;
  /** The identity provider opens in another tab, so that this page stays. */
  inNewTab?: boolean;
  onSignedIn: (reply: Reply<Me>) => void | Promise<void>;
}) => {
  const options = useOperation('getSignInOptions', {});
  const [key, setKey] = useState('');
  const action = useAction(async () => {
    const reply = await perform('createSession', {}, { body: { api_key: key.trim() } });
    setKey('');
    await onSignedIn(reply);
  });
  const oidc = options.data?.oidc ?? null;
  const keyField = useRef<HTMLInputElement>(null);
  // With an identity provider most people need no key, and a field with the focus opens the keyboard of a phone.
  const keyFirst = !options.loading && oidc === null;
  useEffect(() => {
    if (keyFirst) keyField.current?.focus();
  }, [keyFirst]);
  const wrongKey = action.error?.status === 401;
  return (
    <>
      {oidc && (
        <>
          <a
            className={css.provider}
            href={addressOf('startSignIn', {}, { return_to: returnTo })}
            target={inNewTab ? '_blank' : undefined}
          >
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
    </>
  );
};
