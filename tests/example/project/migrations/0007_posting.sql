create table posting (
  id bigint generated always as identity primary key,
  transfer uuid not null,
  account text not null,
  minor bigint not null,
  currency char(3) not null,
  made timestamptz not null default now()
);
