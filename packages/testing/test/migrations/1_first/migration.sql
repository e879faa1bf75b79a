create table item (id int primary key, name text not null);
