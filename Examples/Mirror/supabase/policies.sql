-- Who may do what in a Supabase project. Run it after postgres.sql.

-- The edge function alone applies events. Without this, every visitor could call it.
revoke execute on function
  apply_tideover(jsonb, text, text), replace_subscriptions(text, jsonb),
  note_trial(text, jsonb, bigint), subscription_status(jsonb)
from public, anon, authenticated;
grant execute on function
  apply_tideover(jsonb, text, text), replace_subscriptions(text, jsonb),
  note_trial(text, jsonb, bigint), subscription_status(jsonb)
to service_role;

-- Users read their own rows, and nothing else.
alter table users enable row level security;
alter table subscriptions enable row level security;
revoke all on users, subscriptions from anon, authenticated;
grant select, insert, update, delete on users, subscriptions to service_role;
grant select on subscriptions to authenticated;
create policy "own subscriptions" on subscriptions for select to authenticated
  using (user_id = (select auth.uid())::text);

-- `has_access` reads as the user who calls it, so it returns the caller's own access only.
revoke execute on function has_access(text, text, timestamptz) from public, anon;
grant execute on function has_access(text, text, timestamptz) to authenticated, service_role;
