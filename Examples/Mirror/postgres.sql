-- Users and subscriptions in your own PostgreSQL, kept current by webhooks. See docs/mirror.md.
--
--   psql --single-transaction -v ON_ERROR_STOP=1 -f postgres.sql

create table users (
  id text primary key,                       -- the customer's id at Tideover
  customer_version bigint not null           -- of the newest answer in `subscriptions`
);

create table subscriptions (
  user_id text not null references users on delete cascade,
  entitlement text not null,
  status text not null check (status in (
    'trial', 'active', 'canceled', 'grace_period', 'billing_retry', 'paused', 'expired', 'none')),
  access boolean not null,                   -- the server's decision
  reason text not null,
  product_id text,
  store text,
  expires_at timestamptz,                    -- the end of access; null with access is for ever
  grace_ends_at timestamptz,
  auto_renew boolean,                        -- null while the store has not reported it
  trial_started_at timestamptz,              -- of the latest trial; both remain after its end
  trial_ends_at timestamptz,
  trial_sequence bigint not null default -1, -- of the event with these two dates
  primary key (user_id, entitlement)
);

-- The status of an entitlement, by its answer.
create function subscription_status(answer jsonb) returns text
language sql immutable as $$
  select case answer ->> 'state'
    when 'never' then 'none'
    when 'expired' then 'expired'
    when 'grace' then 'grace_period'
    when 'hold' then case answer ->> 'reason' when 'paused' then 'paused' else 'billing_retry' end
    else case
      -- Some purchases have an end and never renew: nothing was canceled.
      when answer ->> 'reason' in ('prepaid', 'granted', 'lifetime') then 'active'
      when answer ->> 'accessUntil' is not null and answer ->> 'willRenew' = 'false' then 'canceled'
      when answer ->> 'reason' = 'trial' then 'trial'
      else 'active'
    end
  end
$$;

-- Replaces what a customer has by the answer of an event.
create function replace_subscriptions(customer text, answer jsonb) returns void
language sql as $$
  delete from subscriptions where user_id = customer and not answer ? entitlement;
  insert into subscriptions as s (
    user_id, entitlement, status, access, reason, product_id, store,
    expires_at, grace_ends_at, auto_renew)
  select
    customer, key, subscription_status(value), (value ->> 'access')::boolean, value ->> 'reason',
    value ->> 'productId', value ->> 'store', (value ->> 'accessUntil')::timestamptz,
    (value ->> 'graceUntil')::timestamptz, (value ->> 'willRenew')::boolean
  from jsonb_each(answer)
  on conflict (user_id, entitlement) do update set
    status = excluded.status, access = excluded.access, reason = excluded.reason,
    product_id = excluded.product_id, store = excluded.store, expires_at = excluded.expires_at,
    grace_ends_at = excluded.grace_ends_at, auto_renew = excluded.auto_renew;
$$;

-- Stores the dates of a trial. They are in the events `entitlement_changed`, not in the answer.
create function note_trial(customer text, data jsonb, sequence bigint) returns void
language sql as $$
  update subscriptions set
    trial_started_at = (data #>> '{to,trial,startedAt}')::timestamptz,
    trial_ends_at = (data #>> '{to,trial,endsAt}')::timestamptz,
    trial_sequence = sequence
  where user_id = customer and entitlement = data ->> 'entitlement'
    and data #>> '{to,trial,startedAt}' is not null and trial_sequence < sequence;
$$;

-- Applies an event of a webhook. A repeated or late one changes nothing that is newer.
create function apply_tideover(event jsonb, app text, environment text) returns void
language plpgsql as $$
declare
  customer constant text := event ->> 'customer';
  answer constant jsonb := event #> '{data,answer}';
begin
  if customer is null or jsonb_typeof(answer) is distinct from 'object'
    or event #>> '{data,app}' is distinct from app
    or event ->> 'environment' is distinct from environment then
    return;
  end if;
  -- The row stays locked until the end of the transaction, so events of a customer wait here.
  insert into users as known (id, customer_version)
  values (customer, (event ->> 'customerVersion')::bigint)
  on conflict (id) do update set customer_version = excluded.customer_version
  where known.customer_version < excluded.customer_version;
  if found then
    perform replace_subscriptions(customer, answer);
  end if;
  perform note_trial(customer, event -> 'data', (event ->> 'sequence')::bigint);
end $$;

-- Whether a customer has access. An event with a later end may still be on its way at `expires_at`.
create function has_access(customer text, wanted text, at timestamptz default now())
returns boolean language sql stable as $$
  select exists (
    select from subscriptions
    where user_id = customer and entitlement = wanted and access
      and (expires_at is null or at < expires_at + interval '5 minutes'))
$$;
