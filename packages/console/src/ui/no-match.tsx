import { text } from '#text/shared';
import { useNavigate } from '@tanstack/react-router';
import { Button } from './button.tsx';
import { Empty } from './page.tsx';

/** An empty list that is filtered, with the button that clears the filters. */
export function NoMatch({ title }: { title: string }) {
  const navigate = useNavigate();
  return (
    <Empty
      title={title}
      action={
        <Button onPress={() => void navigate({ to: '.', search: {}, replace: true })}>
          {text.clearFilters}
        </Button>
      }
    >
      {text.noMatchAdvice}
    </Empty>
  );
}
