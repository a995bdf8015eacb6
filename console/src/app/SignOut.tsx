import { useAction } from '../api/mutation.ts';
import { signOut } from '../features/sign-in/session.ts';
import { shell } from '../text/en/shell.ts';
import { Button } from '../ui/Button.tsx';
import { Problem } from '../ui/states.tsx';

export const SignOut = () => {
  const action = useAction(signOut);
  return (
    <>
      <Button kind="quiet" small busy={action.busy} onClick={() => void action.run()}>
        {shell.signOut}
      </Button>
      {action.error && <Problem error={action.error} />}
    </>
  );
};
